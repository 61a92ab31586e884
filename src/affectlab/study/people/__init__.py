"""Who takes part and who may look: entry, personal links, accounts, and forgetting a person."""

from affectlab.study.people.accounts import (
    Role as Role,
    add_account as add_account,
    list_accounts as list_accounts,
    remove_account as remove_account,
    set_password as set_password,
    set_role as set_role,
)
from affectlab.study.people.entry import enter as enter
from affectlab.study.people.invitations import create_invitations as create_invitations
from affectlab.study.people.login import (
    LOGIN_HOURS as LOGIN_HOURS,
    Login as Login,
    check_password as check_password,
    close_login as close_login,
    find_login as find_login,
    make_setup as make_setup,
    open_login as open_login,
    set_up as set_up,
)
