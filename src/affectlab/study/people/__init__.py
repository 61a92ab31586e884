"""Who takes part and who may look: entry, personal links, accounts, and forgetting a person."""

from affectlab.study.people.accounts import (
    Role,
    add_account,
    list_accounts,
    remove_account,
    set_password,
    set_role,
)
from affectlab.study.people.entry import enter
from affectlab.study.people.invitations import create_invitations
from affectlab.study.people.login import (
    LOGIN_HOURS,
    Login,
    check_password,
    close_login,
    find_login,
    make_setup,
    open_login,
    set_up,
)

__all__ = [
    "LOGIN_HOURS",
    "Login",
    "Role",
    "add_account",
    "check_password",
    "close_login",
    "create_invitations",
    "enter",
    "find_login",
    "list_accounts",
    "make_setup",
    "open_login",
    "remove_account",
    "set_password",
    "set_role",
    "set_up",
]
