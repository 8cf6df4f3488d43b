"""Covariance functions, with gradients and a plain dict form."""

from gpbandits_env.gp.kernels.compose import ConstantKernel as ConstantKernel
from gpbandits_env.gp.kernels.compose import OnCoordinates as OnCoordinates
from gpbandits_env.gp.kernels.compose import Product as Product
from gpbandits_env.gp.kernels.compose import Sum as Sum
from gpbandits_env.gp.kernels.kernel import KERNELS as KERNELS
from gpbandits_env.gp.kernels.kernel import Kernel as Kernel
from gpbandits_env.gp.kernels.kernel import kernel_from_dict as kernel_from_dict
from gpbandits_env.gp.kernels.laws import check_kernel as check_kernel
from gpbandits_env.gp.kernels.matern import Matern as Matern
from gpbandits_env.gp.kernels.matern import Matern12 as Matern12
from gpbandits_env.gp.kernels.matern import Matern32 as Matern32
from gpbandits_env.gp.kernels.matern import Matern52 as Matern52
from gpbandits_env.gp.kernels.nonstationary import Empirical as Empirical
from gpbandits_env.gp.kernels.nonstationary import Linear as Linear
from gpbandits_env.gp.kernels.nonstationary import SphericalLinear as SphericalLinear
from gpbandits_env.gp.kernels.stationary import SquaredExponential as SquaredExponential
from gpbandits_env.gp.kernels.stationary import Stationary as Stationary
