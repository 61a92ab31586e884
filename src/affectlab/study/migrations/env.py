"""Runs migrations on the connection that the study has opened."""

from alembic import context

from affectlab.study.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
context.run_migrations()
