// The processor seconds that the gate may take on the machine where the budget was set. Other machines are faster or
// slower, so the same small piece of work is timed on each.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const BUDGET_SECONDS = 900
const TOLERANCE = 1.2
/** How long `yardstick` takes on the machine of the budget: two x64 cores without SHA instructions. */
const YARDSTICK_SECONDS = 1
const TICKS_PER_SECOND = 100

/** Returns the problems. Only Linux reports the processor time of child processes. */
export function checkCpuBudget(): string[] {
  const used = childSeconds()
  if (used === undefined) return []
  const speed = YARDSTICK_SECONDS / yardstick()
  const budget = BUDGET_SECONDS / speed
  console.log(`${used.toFixed(0)} s of processor time; the budget is ${budget.toFixed(0)} s on this machine`)
  return used > budget * TOLERANCE ? ['the gate takes too much processor time: tag slow tests `nightly`'] : []
}

/** The user and system time of all ended child processes and their descendants. */
function childSeconds(): number | undefined {
  try {
    // The program's name in parentheses may contain spaces. utime is the 12th field after it, cutime the 14th.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
  } catch {
    return undefined
  }
}

function yardstick(): number {
  const { user, system } = process.cpuUsage()
  let digest = ''
  for (let i = 0; i < 400_000; i++) {
    const text = JSON.stringify({ i, digest })
    digest = createHash('sha256').update(text).digest('hex')
    JSON.parse(text)
  }
  const used = process.cpuUsage({ user, system })
  return (used.user + used.system) / 1e6
}
