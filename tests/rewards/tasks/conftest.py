import pytest

from gpbandits_env.errors import MissingExtra


@pytest.fixture
def prepared():
    """Prepares a task; the test is skipped, with the reason, where something is missing."""

    def prepare(task):
        try:
            task.prepare()
        except MissingExtra as error:
            pytest.skip(str(error))
        return task

    return prepare
