# Choices between four systems, by clusters of judges, and what R says of them.
# Run with: Rscript tests/data/preference_models.R > tests/data/preference_models.json
# Needs jsonlite, psychotools (ties), BradleyTerry2 (position) and clubSandwich (errors by cluster).
suppressMessages({
  library(jsonlite); library(psychotools); library(BradleyTerry2); library(clubSandwich)
})
set.seed(7)
k <- 4; n <- 400; names <- c("a", "b", "c", "d"); strength <- c(0.8, 0.2, -0.2, -0.8)
left <- sample(k, n, replace = TRUE)
right <- (left + sample(k - 1, n, replace = TRUE) - 1) %% k + 1
judge <- sample(8, n, replace = TRUE)
u <- strength[left] - strength[right] + 0.4 + rnorm(8, 0, 0.5)[judge]
weight <- cbind(exp(u / 2), exp(-u / 2), 0.5)
answer <- apply(weight, 1, function(w) sample(c("left", "right", "tie"), 1, prob = w))
answers <- list()

# Davidson: the log-linear model of psychotools, from one comparison a row.
pairs <- which(upper.tri(diag(k)), arr.ind = TRUE)
rows <- matrix(NA, n, nrow(pairs))
for (i in seq_len(n)) {
  low <- min(left[i], right[i]); high <- max(left[i], right[i])
  sign <- if (left[i] == low) 1 else -1
  rows[i, which(pairs[, 1] == low & pairs[, 2] == high)] <-
    c(left = sign, right = -sign, tie = 0)[[answer[i]]]
}
# The library wants the answers of a subject to be complete; counts of columns are all it uses.
davidson <- btmodel(paircomp(rows, labels = names, mscale = c(-1, 0, 1)), undecided = TRUE)
answers$davidson <- as.list(coef(davidson))

# Position, ties left out: BradleyTerry2 with an advantage of the left.
decided <- answer != "tie"
won <- data.frame(
  win = as.integer(answer == "left")[decided], lost = as.integer(answer == "right")[decided]
)
side <- function(who, at) data.frame(team = factor(names[who][decided], names), at.left = at)
home <- BTm(
  cbind(won$win, won$lost), side(left, 1), side(right, 0), ~ team + at.left, id = "team"
)
answers$position <- as.list(coef(home))

# The same with errors that leave out one judge after the other (CR3), by clubSandwich.
design <- matrix(0, n, k)
design[cbind(1:n, left)] <- 1; design[cbind(1:n, right)] <- -1
data <- data.frame(win = answer == "left", design[, -1], judge)[decided, ]
probit <- list()
for (link in c("logit", "probit")) {
  fit <- glm(win ~ X1 + X2 + X3, binomial(link), data)
  covariance <- vcovCR(fit, cluster = data$judge, type = "CR3")
  answers[[link]] <- list(
    coefficients = unname(coef(fit)), covariance = unname(as.matrix(covariance))
  )
}

# Ties and position at once, by Davidson and Beaver: a log-linear model with a term a comparison.
cells <- do.call(rbind, lapply(seq_len(n), function(i) data.frame(
  vote = i, left = c(left[i], NA, left[i]), right = c(NA, right[i], right[i]),
  outcome = c("left", "right", "tie"), count = as.integer(c("left", "right", "tie") == answer[i])
)))
half <- ifelse(cells$outcome == "tie", 0.5, 1)
terms <- sapply(2:k, function(s) half * ((cells$left %in% s) + (cells$right %in% s)))
order <- factor(paste(left, right))[cells$vote]
log_linear <- glm(
  count ~ 0 + order + terms + I((outcome == "left") - (outcome == "right")) + I(outcome == "tie"),
  poisson, aggregate(count ~ outcome + order, data.frame(cells, order), sum) |>
    merge(unique(data.frame(outcome = cells$outcome, order, terms = I(terms))),
          by = c("outcome", "order"))
)
answers$davidson_position <- as.list(unname(tail(coef(log_linear), 5)))
cat(toJSON(list(
  left = left - 1, right = right - 1, judge = judge, answer = answer, answers = answers
), digits = 10, auto_unbox = TRUE))
