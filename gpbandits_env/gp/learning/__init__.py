"""Learning a model from data: the kernel's hyper-parameters, the noise, the mean and epsilon."""

from gpbandits_env.gp.learning.data import Observations as Observations
from gpbandits_env.gp.learning.data import Series as Series
from gpbandits_env.gp.learning.diagnose import Diagnosis as Diagnosis
from gpbandits_env.gp.learning.diagnose import ModelScore as ModelScore
from gpbandits_env.gp.learning.diagnose import diagnose as diagnose
from gpbandits_env.gp.learning.estimate import Estimator as Estimator
from gpbandits_env.gp.learning.estimate import Learning as Learning
from gpbandits_env.gp.learning.estimate import learning_for as learning_for
from gpbandits_env.gp.learning.fit import Fitted as Fitted
from gpbandits_env.gp.learning.fit import fit as fit
from gpbandits_env.gp.learning.likelihood import log_marginal_likelihood as log_marginal_likelihood
from gpbandits_env.gp.learning.priors import HyperPriors as HyperPriors
from gpbandits_env.gp.learning.scaling import InputScaling as InputScaling
from gpbandits_env.gp.learning.scaling import OutputScaling as OutputScaling
from gpbandits_env.gp.learning.scaling import Winsorizer as Winsorizer
