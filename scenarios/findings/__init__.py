"""Findings of papers as checks on results: all those that a scenario may declare."""

from gpbandits_env.scenarios.findings.final import AtMost as AtMost
from gpbandits_env.scenarios.findings.final import Below as Below
from gpbandits_env.scenarios.findings.final import Level as Level
from gpbandits_env.scenarios.findings.final import NearlyBest as NearlyBest
from gpbandits_env.scenarios.findings.final import SlowerRise as SlowerRise
from gpbandits_env.scenarios.findings.final import Wider as Wider
from gpbandits_env.scenarios.findings.final import WithinPublished as WithinPublished
from gpbandits_env.scenarios.findings.finding import FINDINGS as FINDINGS
from gpbandits_env.scenarios.findings.finding import CellResults as CellResults
from gpbandits_env.scenarios.findings.finding import Check as Check
from gpbandits_env.scenarios.findings.finding import Finding as Finding
from gpbandits_env.scenarios.findings.rounds import BelowAt as BelowAt
from gpbandits_env.scenarios.findings.rounds import LessTime as LessTime
from gpbandits_env.scenarios.findings.rounds import ModelOrder as ModelOrder
from gpbandits_env.scenarios.findings.rounds import NeverBelow as NeverBelow
from gpbandits_env.scenarios.findings.rounds import Oscillates as Oscillates
from gpbandits_env.scenarios.findings.rounds import ShareOf as ShareOf
