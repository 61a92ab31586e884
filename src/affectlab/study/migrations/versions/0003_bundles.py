"""Bundles: batches of the study file that a session is given whole, and that count by session."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_SOME = sa.text("bundle_id IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "bundles",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("valid", sa.Integer(), nullable=False),
        sa.Column("leased", sa.Integer(), nullable=False),
        sa.CheckConstraint("valid >= 0", name=op.f("ck_bundles_valid")),
        sa.CheckConstraint("leased >= 0", name=op.f("ck_bundles_leased")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bundles")),
        sa.UniqueConstraint("name", name=op.f("uq_bundles_name")),
    )
    # In words of SQL, which both databases understand: SQLite cannot add a constraint by itself.
    for table in ("tasks", "sessions"):
        op.execute(
            f"ALTER TABLE {table} ADD COLUMN bundle_id INTEGER "
            f"CONSTRAINT fk_{table}_bundle_id_bundles REFERENCES bundles (id)"
        )
    op.execute(
        "ALTER TABLE sessions ADD COLUMN place VARCHAR(10) DEFAULT '' NOT NULL "
        "CONSTRAINT ck_sessions_place CHECK (place IN ('', 'held', 'counted'))"
    )
    op.create_index(
        "ix_tasks_bundle", "tasks", ["bundle_id"], postgresql_where=_SOME, sqlite_where=_SOME
    )
