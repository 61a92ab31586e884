"""Erasing a person: the log lets what is said of an erased person be emptied, and nothing else."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ERASED = """EXISTS (
    SELECT 1 FROM erasures WHERE erasures.participant_id = OLD.participant_id
    OR erasures.participant_id = (SELECT participant_id FROM sessions WHERE id = OLD.session_id)
)"""

_SQLITE = f"""
CREATE TRIGGER events_UPDATE BEFORE UPDATE ON events
WHEN NOT (
    NEW.body = '{{}}' AND OLD.kind <> 'erased'
    AND NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.kind = OLD.kind
    AND NEW.participant_id IS OLD.participant_id AND NEW.session_id IS OLD.session_id
    AND NEW.trial_id IS OLD.trial_id AND {_ERASED}
)
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END
"""

_POSTGRES = f"""
CREATE FUNCTION events_are_only_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.body = '{{}}' AND OLD.kind <> 'erased'
        AND NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.kind = OLD.kind
        AND NEW.participant_id IS NOT DISTINCT FROM OLD.participant_id
        AND NEW.session_id IS NOT DISTINCT FROM OLD.session_id
        AND NEW.trial_id IS NOT DISTINCT FROM OLD.trial_id AND {_ERASED}
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'events are never changed';
END $$
"""


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participants.id"],
            name=op.f("fk_erasures_participant_id_participants"),
        ),
        sa.PrimaryKeyConstraint("participant_id", name=op.f("pk_erasures")),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER events_UPDATE")
        op.execute(_SQLITE)
        return
    op.execute("DROP TRIGGER events_kept ON events")
    op.execute(_POSTGRES)
    op.execute(
        "CREATE TRIGGER events_kept BEFORE DELETE OR TRUNCATE ON events "
        "FOR EACH STATEMENT EXECUTE FUNCTION events_are_kept()"
    )
    op.execute(
        "CREATE TRIGGER events_emptied BEFORE UPDATE ON events "
        "FOR EACH ROW EXECUTE FUNCTION events_are_only_emptied()"
    )
