# SPDX-License-Identifier: Apache-2.0
"""Writes examples/study.csv, the table of docs/start.md: python examples/study.py > examples/study.csv

Made up, so that one can see whether what is found is true. Pressure follows age, salt and weight; sleep follows pressure.
It is written as spreadsheets of half of Europe write: semicolons, decimal commas, NA and empty cells.
"""

from __future__ import annotations

import random

ROWS = 400


def table() -> str:
    draw = random.Random(7)
    lines = ["site;sex;age;exercise;salt;weight;pressure;sleep"]
    for _ in range(ROWS):
        site, sex = draw.choice(["Bonn", "Lyon", "Turin"]), draw.choice(["female", "male"])
        age = draw.randint(20, 79)
        exercise = max(0.0, 7 - 0.06 * age + draw.gauss(0, 1.2))
        salt = {"Bonn": 9.5, "Lyon": 8.5, "Turin": 7.0}[site] + draw.gauss(0, 1.5)
        weight = (68 if sex == "female" else 80) - 2 * exercise + draw.gauss(0, 7)
        pressure = 60 + 0.5 * age + 3 * salt + 0.25 * weight + draw.gauss(0, 6)
        sleep = 11 - 0.03 * pressure + draw.gauss(0, 0.5)
        cells = [f"{exercise:.1f}", f"{salt:.2f}", f"{weight:.1f}", f"{pressure:.1f}", f"{sleep:.1f}"]
        if draw.random() < 0.06:
            cells[1] = ""
        if draw.random() < 0.04:
            cells[2] = "NA"
        lines.append(";".join([site, sex, str(age), *(cell.replace(".", ",") for cell in cells)]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
