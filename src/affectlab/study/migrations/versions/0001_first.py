"""The tables of the first version."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_KEEP = (
    "CREATE TRIGGER events_{verb} BEFORE {verb} ON events "
    "BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
)
_REFUSE = """
CREATE FUNCTION events_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'events are never changed'; END $$
"""


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.Column("session_id", sa.Integer(), nullable=True),
        sa.Column("trial_id", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index("ix_events_session", "events", ["session_id"], unique=False)
    op.create_table(
        "participants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.Column("invitation", sa.String(length=64), nullable=True),
        sa.Column("language", sa.String(length=10), nullable=True),
        sa.Column("demographics", sa.Text(), nullable=False),
        sa.Column("eligibility", sa.Text(), nullable=False),
        sa.Column("consented_at", sa.BigInteger(), nullable=True),
        sa.Column("blocked", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('human', 'simulated')", name=op.f("ck_participants_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_participants")),
        sa.UniqueConstraint("invitation", name=op.f("uq_participants_invitation")),
        sa.UniqueConstraint(
            "source", "external_id", name=op.f("uq_participants_source_external_id")
        ),
    )
    op.create_table(
        "stimuli",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=500), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("attributes", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("expected", sa.Text(), nullable=True),
        sa.CheckConstraint("kind IN ('main', 'golden', 'training')", name=op.f("ck_stimuli_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stimuli")),
        sa.UniqueConstraint("name", name=op.f("uq_stimuli_name")),
    )
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("design", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "status IN ('open', 'paused', 'closed')", name=op.f("ck_studies_status")
        ),
        sa.CheckConstraint("id = 1", name=op.f("ck_studies_one")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("stage", sa.String(length=20), nullable=False),
        sa.Column("batch", sa.String(length=20), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("quiz_attempts", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.Column("completion_code", sa.String(length=60), nullable=False),
        sa.Column("verdict", sa.String(length=20), nullable=False),
        sa.Column("pay", sa.String(length=3), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participants.id"],
            name=op.f("fk_sessions_participant_id_participants"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("token", name=op.f("uq_sessions_token")),
    )
    op.create_index("ix_sessions_participant", "sessions", ["participant_id"], unique=False)
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stimulus_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("batch", sa.String(length=20), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("valid", sa.Integer(), nullable=False),
        sa.Column("leased", sa.Integer(), nullable=False),
        sa.CheckConstraint("leased >= 0", name=op.f("ck_tasks_leased")),
        sa.CheckConstraint("valid >= 0", name=op.f("ck_tasks_valid")),
        sa.ForeignKeyConstraint(
            ["stimulus_id"], ["stimuli.id"], name=op.f("fk_tasks_stimulus_id_stimuli")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint(
            "stimulus_id", "label", "batch", name=op.f("uq_tasks_stimulus_id_label_batch")
        ),
    )
    op.create_index("ix_tasks_open", "tasks", ["wanted", "valid", "leased", "rank"], unique=False)
    op.create_table(
        "trials",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=True),
        sa.Column("stimulus_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("layout", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('training', 'main', 'golden', 'repeat')", name=op.f("ck_trials_kind")
        ),
        sa.CheckConstraint(
            "state IN ('open', 'answered', 'expired', 'skipped')", name=op.f("ck_trials_state")
        ),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participants.id"],
            name=op.f("fk_trials_participant_id_participants"),
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_trials_session_id_sessions")
        ),
        sa.ForeignKeyConstraint(
            ["stimulus_id"], ["stimuli.id"], name=op.f("fk_trials_stimulus_id_stimuli")
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_trials_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
        sa.UniqueConstraint("session_id", "position", name=op.f("uq_trials_session_id_position")),
    )
    op.create_index("ix_trials_leases", "trials", ["state", "lease_until"], unique=False)
    op.create_index("ix_trials_task", "trials", ["task_id"], unique=False)
    op.create_index("uq_trials_once", "trials", ["participant_id", "task_id"], unique=True)
    op.create_table(
        "answers",
        sa.Column("trial_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("widget", sa.String(length=20), nullable=False),
        sa.Column("rt_ms", sa.Integer(), nullable=True),
        sa.Column("movement", sa.Text(), nullable=True),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("submitted_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial_id"], ["trials.id"], name=op.f("fk_answers_trial_id_trials")
        ),
        sa.PrimaryKeyConstraint("trial_id", name=op.f("pk_answers")),
        sa.UniqueConstraint("key", name=op.f("uq_answers_key")),
    )
    op.create_table(
        "staircases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("stimulus_id", sa.Integer(), nullable=False),
        sa.Column("anchor", sa.String(length=100), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_staircases_session_id_sessions")
        ),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participants.id"],
            name=op.f("fk_staircases_participant_id_participants"),
        ),
        sa.ForeignKeyConstraint(
            ["task_id"], ["tasks.id"], name=op.f("fk_staircases_task_id_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["stimulus_id"], ["stimuli.id"], name=op.f("fk_staircases_stimulus_id_stimuli")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_staircases")),
        sa.UniqueConstraint(
            "session_id",
            "task_id",
            "anchor",
            name=op.f("uq_staircases_session_id_task_id_anchor"),
        ),
    )
    op.create_table(
        "ledger",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("action", sa.String(length=10), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("submission", sa.String(length=200), nullable=False),
        sa.Column("cents", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("payment", sa.String(length=100), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=False),
        sa.Column("done_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "action IN ('approve', 'reject', 'bonus')", name=op.f("ck_ledger_action")
        ),
        sa.CheckConstraint("state IN ('sending', 'done', 'refused')", name=op.f("ck_ledger_state")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_ledger_session_id_sessions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.UniqueConstraint("key", name=op.f("uq_ledger_key")),
    )
    op.create_index("ix_ledger_session", "ledger", ["session_id"], unique=False)
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("password", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "role IN ('owner', 'researcher', 'viewer')", name=op.f("ck_accounts_role")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("name", name=op.f("uq_accounts_name")),
    )
    op.create_table(
        "logins",
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name=op.f("fk_logins_account_id_accounts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_logins")),
    )
    op.create_index("ix_logins_account", "logins", ["account_id"], unique=False)
    op.create_table(
        "setups",
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_setups")),
    )

    _keep_events()


def _keep_events() -> None:
    """Let the database itself refuse to change what happened."""
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(_KEEP.format(verb=verb))
        return
    op.execute(_REFUSE)
    op.execute(
        "CREATE TRIGGER events_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
        "FOR EACH STATEMENT EXECUTE FUNCTION events_are_kept()"
    )
