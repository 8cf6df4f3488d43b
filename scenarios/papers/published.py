"""What papers print: final figures to compare ours with."""

# Source: ren2024, Tables 1-4; mean/standard deviation, in the unit of the row.
_TABLE = """
problem         unit dpp-ts    bucb      ucbpe        sp         ts        qei       ts-rsr
rbf-2d          1e-2 6.1/11.4  5.1/11.3  11.8/16.8    12.7/18.6  8.9/14.6  29.8/26.1 3.8/10.0
rbf-3d          1e-2 5.8/9.1   36.0/29.5 48.9/35.5    12.4/20.6  3.0/6.8   29.8/54.2 1.9/3.6
ackley-2d       1e-3 2.2/1.6   2.3/1.1   8.3/5.4      3.5/1.8    4.3/3.1   10.4/3.5  1.7/1.1
rosenbrock-2d   1e-3 6.2/7.2   22.7/24.1 207.1/165.9  69.0/61.1  3.9/1.7   12.1/7.3  2.0/1.6
bird-2d         1e-4 0.4/1.0   7.1/7.2   763.3/1782.0 1.4/1.0    0.3/0.0   1.4/2.0   0.7/1.0
ackley-3d       1e-2 3.9/4.0   50.1/71.7 158.7/113.3  104.2/97.3 18.0/38.3 45.6/55.6 1.2/0.6
hartmann-6d     1e-2 11.1/9.4  4.78/4.9  8.3/6.5      4.0/8.0    5.9/9.5   1.9/5.5   1.6/4.7
griewank-8d     1e-2 14.0/5.0  5.2/1.8   14.3/4.8     15.5/8.9   14.9/4.3  11.0/4.1  3.1/1.7
michalewicz-10d 1    5.4/0.8   5.4/1.1   5.8/0.7      4.8/0.8    5.5/0.7   5.0/0.7   4.4/0.7
boston          1e-1 7.6/3.4   6.6/3.5   9.9/4.3      11.1/5.6   11.4/4.8  7.8/4.5   4.9/2.5
push-3d         1e-2 31.0/20.1 12.6/5.0  18.9/6.3     18.6/19.2  39.2/22.3 27.1/38.7 8.1/5.5
push-4d         1e-1 3.5/2.5   2.6/1.9   3.5/2.3      5.5/5.6    3.8/2.4   5.2/7.6   1.9/1.3
"""


(_, _, *_agents), *_rows = (line.split() for line in _TABLE.strip().splitlines())
# Problem -> agent -> its mean simple regret at the last round.
REN2024 = {
    problem: {
        agent: float(unit) * float(cell.partition("/")[0])
        for agent, cell in zip(_agents, cells, strict=True)
    }
    for problem, unit, *cells in _rows
}
