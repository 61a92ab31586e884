# Makes mixed_models.json, which test_fixed_effects.py and test_cumulative_link.py read:
#   Rscript mixed_models.R > ../data/mixed_models.json
# Answers of lme4 1.1-31, lmerTest 3.1-3, emmeans 1.8.4 and ordinal 2022.11-16 (R 4.2.2), for the
# data that `made` in mixed_model_data.py gives by the same formulas.
suppressMessages({
  library(lme4); library(lmerTest); library(emmeans); library(ordinal); library(jsonlite)
})
options(contrasts = c("contr.sum", "contr.poly"))

i <- 0:419
s <- (i * 7) %% 31
r <- (i * 5 + i %/% 9) %% 10
d <- data.frame(
  stimulus = factor(s), rater = factor(r),
  race = factor(c("a", "b", "c")[s %% 3 + 1]), gender = factor(c("f", "m")[(s %/% 3) %% 2 + 1]),
  kind = factor(c("lay", "trained")[r %% 2 + 1]), age = 20 + (r * r * 5) %% 17
)
d$value <- sin(s * 1.3) * 0.6 + cos(r * 1.7) * 0.7 + ((i * 37) %% 17) / 6 +
  ifelse(d$race == "a", 0.7, 0) + ifelse(d$race == "b" & d$gender == "m", 1.1, 0) +
  ifelse(d$kind == "lay", 0.4, 0) + 0.04 * (d$age - 25) + 0.5 * sin((s %% 3) * 2.3 + r * 3.1)
d$age <- d$age - mean(d$age)
d$flat <- d$value - sin(s * 1.3) * 0.6
d$answer <- ordered(findInterval(d$value, c(0.6, 1.4, 2.2, 3.2)))

exact <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5))
wide <- function(frame) as.data.frame(lapply(as.data.frame(frame), function(x)
  if (is.factor(x)) as.character(x) else x), check.names = FALSE)

linear <- function(formula, means, pairs) {
  m <- lmer(formula, d, control = exact)
  variances <- as.data.frame(VarCorr(m))
  terms <- anova(m, type = 3)
  list(
    variances = setNames(as.list(variances$vcov), variances$grp),
    deviance = -2 * as.numeric(logLik(m)),
    effects = data.frame(name = rownames(coef(summary(m))), coef(summary(m)), check.names = FALSE),
    terms = data.frame(name = rownames(terms), as.data.frame(terms), check.names = FALSE),
    means = lapply(means, function(by) wide(summary(emmeans(
      m, by, lmer.df = "satterthwaite"), infer = TRUE))),
    contrasts = lapply(pairs, function(by) wide(summary(pairs(emmeans(
      m, by, lmer.df = "satterthwaite"), adjust = "none"), infer = TRUE)))
  )
}
latent <- function(link) {
  m <- clmm(answer ~ race * gender + kind + age + (1 | stimulus) + (1 | rater), data = d,
    link = link, control = clmm.control(gradTol = 1e-8))
  list(
    log_likelihood = as.numeric(logLik(m)),
    thresholds = as.list(m$alpha), effects = as.list(m$beta),
    errors = as.list(sqrt(diag(vcov(m)))),
    deviations = lapply(VarCorr(m), function(v) as.numeric(attr(v, "stddev"))),
    means = wide(summary(emmeans(m, "race"))),
    contrasts = wide(summary(pairs(emmeans(m, "race"), adjust = "none"), infer = TRUE))
  )
}
emm_options(msg.interaction = FALSE, msg.nesting = FALSE)
answers <- suppressWarnings(suppressMessages(list(
  linear = linear(
    value ~ race * gender + kind + age + (1 | stimulus) + (1 | rater),
    list(race = "race", both = c("race", "gender"), kind = "kind"),
    list(race = ~race, within = ~race | gender)
  ),
  slopes = linear(
    value ~ race * age + (1 | stimulus) + (1 | rater) + (1 | rater:race),
    list(race = "race"), list(race = ~race)
  ),
  # No variance of stimuli is left.
  singular = linear(
    flat ~ race * gender + kind + (1 | stimulus) + (1 | rater),
    list(race = "race"), list(race = ~race)
  ),
  probit = latent("probit"), logit = latent("logit")
)))
cat(toJSON(answers, digits = 10, pretty = TRUE, auto_unbox = TRUE), "\n")
