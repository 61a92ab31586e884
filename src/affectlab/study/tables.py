"""The tables of a study's database.

Times are milliseconds since 1970 in UTC. ``events`` only ever grows; the other tables hold the
state that follows from it. Every count that decides who gets what (``valid``, ``leased``) changes
in the same transaction as the answer or the claim it counts.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

__all__ = [
    "accounts",
    "answers",
    "bundles",
    "erasures",
    "events",
    "ledger",
    "logins",
    "metadata",
    "participants",
    "sessions",
    "setups",
    "staircases",
    "stimuli",
    "studies",
    "tasks",
    "trials",
]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Serial = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts rows up by itself for this type alone."""

studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("design", Text, nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("status", String(10), nullable=False, default="open"),
    Column("created_at", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="one"),
    CheckConstraint("status IN ('open', 'paused', 'closed')", name="status"),
)

stimuli = Table(
    "stimuli",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(500), nullable=False, unique=True),
    # What is shown, as JSON: {"files": [path, …], "texts": [text, …]}; two of one for a pair.
    Column("content", Text, nullable=False),
    Column("attributes", Text, nullable=False, default="{}"),
    Column("kind", String(10), nullable=False, default="main"),
    Column("expected", Text),
    CheckConstraint("kind IN ('main', 'golden', 'training')", name="kind"),
)

# What the study file calls a batch: stimuli that a session is given together, counted by session.
bundles = Table(
    "bundles",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    # Sessions: those wanted, those complete whose answers count, those that hold it now.
    Column("wanted", Integer, nullable=False),
    Column("valid", Integer, nullable=False, default=0),
    Column("leased", Integer, nullable=False, default=0),
    CheckConstraint("valid >= 0", name="valid"),
    CheckConstraint("leased >= 0", name="leased"),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("stimulus_id", ForeignKey("stimuli.id"), nullable=False),
    Column("label", String(200), nullable=False, default=""),
    Column("batch", String(20), nullable=False, default="main"),
    Column("rank", Integer, nullable=False),
    Column("wanted", Integer, nullable=False),
    Column("valid", Integer, nullable=False, default=0),
    Column("leased", Integer, nullable=False, default=0),
    # Of the main study, where batches are kept whole.
    Column("bundle_id", ForeignKey("bundles.id")),
    UniqueConstraint("stimulus_id", "label", "batch"),
    CheckConstraint("valid >= 0", name="valid"),
    CheckConstraint("leased >= 0", name="leased"),
    Index("ix_tasks_open", "wanted", "valid", "leased", "rank"),
    # Only where there are bundles: every answer writes into the indexes of its task.
    Index(
        "ix_tasks_bundle",
        "bundle_id",
        postgresql_where=text("bundle_id IS NOT NULL"),
        sqlite_where=text("bundle_id IS NOT NULL"),
    ),
)

participants = Table(
    "participants",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", String(10), nullable=False, default="human"),
    Column("source", String(20), nullable=False),
    Column("external_id", String(200)),
    Column("invitation", String(64), unique=True),
    Column("language", String(10)),
    Column("demographics", Text, nullable=False, default="{}"),
    Column("eligibility", Text, nullable=False, default="{}"),
    Column("consented_at", BigInteger),
    Column("blocked", Boolean, nullable=False, default=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("source", "external_id"),
    CheckConstraint("kind IN ('human', 'simulated')", name="kind"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("participant_id", ForeignKey("participants.id"), nullable=False),
    Column("token", String(64), nullable=False, unique=True),
    Column("stage", String(20), nullable=False),
    # "main" or "pilot": which tasks the session is given.
    Column("batch", String(20), nullable=False, default="main"),
    # The bundle that it was given, and what it is to it: it holds a place, is counted, or neither.
    Column("bundle_id", ForeignKey("bundles.id")),
    Column("place", String(10), nullable=False, default=""),
    Column("seed", BigInteger, nullable=False),
    Column("quiz_attempts", Integer, nullable=False, default=0),
    Column("external_id", String(200)),
    Column("completion_code", String(60), nullable=False),
    Column("verdict", String(20), nullable=False, default=""),
    # What the policy says of paying the session ("yes", "no"; "" before it was judged), which is
    # kept apart from whether its answers count, and what it holds against the session, as JSON:
    # [{"rule": …, "evidence": …}, …].
    Column("pay", String(3), nullable=False, default=""),
    Column("reasons", Text, nullable=False, default="[]"),
    Column("started_at", BigInteger, nullable=False),
    Column("last_seen_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    CheckConstraint("place IN ('', 'held', 'counted')", name="place"),
    Index("ix_sessions_participant", "participant_id"),
)

trials = Table(
    "trials",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("participant_id", ForeignKey("participants.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("kind", String(10), nullable=False),
    Column("task_id", ForeignKey("tasks.id")),
    Column("stimulus_id", ForeignKey("stimuli.id"), nullable=False),
    Column("label", String(200), nullable=False, default=""),
    Column("layout", Text, nullable=False, default="{}"),
    Column("state", String(10), nullable=False, default="open"),
    Column("lease_until", BigInteger),
    UniqueConstraint("session_id", "position"),
    CheckConstraint("kind IN ('training', 'main', 'golden', 'repeat')", name="kind"),
    CheckConstraint("state IN ('open', 'answered', 'expired', 'skipped')", name="state"),
    # Nobody gets the same task twice, whatever happens between two servers.
    Index("uq_trials_once", "participant_id", "task_id", unique=True),
    Index("ix_trials_leases", "state", "lease_until"),
    Index("ix_trials_task", "task_id"),
)

answers = Table(
    "answers",
    metadata,
    Column("trial_id", ForeignKey("trials.id"), primary_key=True),
    Column("value", Text, nullable=False),
    Column("valid", Boolean, nullable=False, default=True),
    Column("widget", String(20), nullable=False),
    Column("rt_ms", Integer),
    Column("movement", Text),
    Column("key", String(64), nullable=False, unique=True),
    Column("submitted_at", BigInteger, nullable=False),
)

staircases = Table(
    "staircases",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("participant_id", ForeignKey("participants.id"), nullable=False),
    Column("task_id", ForeignKey("tasks.id"), nullable=False),
    Column("stimulus_id", ForeignKey("stimuli.id"), nullable=False),
    Column("anchor", String(100), nullable=False),
    # Places of its trials in the session, as JSON: [[position, whether it is a catch trial], …].
    Column("plan", Text, nullable=False),
    # The run as it is after the answers so far, as FrameStaircase writes it.
    Column("state", Text, nullable=False),
    UniqueConstraint("session_id", "task_id", "anchor"),
)

events = Table(
    "events",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("participant_id", Integer),
    Column("session_id", Integer),
    Column("trial_id", BigInteger),
    Column("body", Text, nullable=False, default="{}"),
    Index("ix_events_session", "session_id"),
)

# Whom the study has forgotten: of these, and of nobody else, the bodies of events can be emptied.
erasures = Table(
    "erasures",
    metadata,
    Column("participant_id", ForeignKey("participants.id"), primary_key=True),
    Column("at", BigInteger, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    Column("id", Serial, primary_key=True),
    # What is sent to the platform is sent under a key, and each key goes out once.
    Column("key", String(200), nullable=False, unique=True),
    Column("action", String(10), nullable=False),
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("submission", String(200), nullable=False),
    Column("cents", Integer),
    Column("reason", Text, nullable=False, default=""),
    Column("state", String(10), nullable=False),
    # The platform's name for the payment that this one is part of.
    Column("payment", String(100)),
    Column("problem", Text, nullable=False, default=""),
    Column("sent_at", BigInteger, nullable=False),
    Column("done_at", BigInteger),
    CheckConstraint("action IN ('approve', 'reject', 'bonus')", name="action"),
    CheckConstraint("state IN ('sending', 'done', 'refused')", name="state"),
    Index("ix_ledger_session", "session_id"),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(60), nullable=False, unique=True),
    Column("role", String(10), nullable=False),
    # As argon2 writes it: parameters, salt and digest.
    Column("password", String(200), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    CheckConstraint("role IN ('owner', 'researcher', 'viewer')", name="role"),
)

logins = Table(
    "logins",
    metadata,
    # The digest of the token in the browser's cookie.
    Column("token", String(64), primary_key=True),
    Column("account_id", ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index("ix_logins_account", "account_id"),
)

setups = Table(
    "setups",
    metadata,
    # The digest of the token in the link that makes the first account.
    Column("token", String(64), primary_key=True),
    Column("expires_at", BigInteger, nullable=False),
)
