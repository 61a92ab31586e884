"""Asking one model many questions: settings, limits, the provider, the ledger."""

from affectlab.models.vlm.asking.ask import Asker as Asker, Progress as Progress
from affectlab.models.vlm.asking.budget import (
    Budget as Budget,
    Charge as Charge,
    Estimator as Estimator,
    Prices as Prices,
    Purse as Purse,
    Usage as Usage,
    known_prices as known_prices,
    total_usage as total_usage,
)
from affectlab.models.vlm.asking.event_loop import Interrupt as Interrupt, run_now as run_now
from affectlab.models.vlm.asking.in_batches import (
    BatchAsker as BatchAsker,
    batches_sentence as batches_sentence,
)
from affectlab.models.vlm.asking.inspect_log import (
    Logged as Logged,
    log_path as log_path,
    write_log as write_log,
)
from affectlab.models.vlm.asking.ledger import (
    LEDGER as LEDGER,
    Ledger as Ledger,
    Record as Record,
    question_key as question_key,
)
from affectlab.models.vlm.asking.limits import Halt as Halt, Pace as Pace
from affectlab.models.vlm.asking.model_identity import (
    OtherModelWarning as OtherModelWarning,
    other_models as other_models,
    other_models_said as other_models_said,
    rater_of as rater_of,
    unclear_said as unclear_said,
    warn_of_others as warn_of_others,
)
from affectlab.models.vlm.asking.outcomes import (
    Askable as Askable,
    Judged as Judged,
    judge as judge,
    problem_of as problem_of,
    to_ask_again as to_ask_again,
)
from affectlab.models.vlm.asking.plan import Plan as Plan, leaving as leaving, plan_of as plan_of
from affectlab.models.vlm.asking.provider import (
    STRUCTURED as STRUCTURED,
    Provider as Provider,
    need_inspect as need_inspect,
    sent_to as sent_to,
    with_address as with_address,
)
from affectlab.models.vlm.asking.settings import AskSettings as AskSettings, Retrying as Retrying
