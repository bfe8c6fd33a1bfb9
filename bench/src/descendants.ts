import { existsSync, readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/**
 * The processor time of all descendants of this process, mostly PostgreSQL. Only Linux reports it; it is 0 elsewhere.
 */
export function descendantsCpuSeconds(): number {
  if (!existsSync('/proc/self/stat')) return 0
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const known = new Map(processes.flatMap((name) => usageOf(Number(name))))
  const isDescendant = (pid: number): boolean => {
    const parent = known.get(pid)?.parent
    return parent !== undefined && (parent === process.pid || isDescendant(parent))
  }
  const descendants = [...known].filter(([pid]) => isDescendant(pid))
  return descendants.reduce((sum, [, { ticks }]) => sum + ticks, 0) / TICKS_PER_SECOND
}

/** Ticks include ended children. Empty if the process has ended. */
function usageOf(pid: number): [pid: number, usage: { parent: number; ticks: number }][] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name may contain spaces and ends with the last parenthesis. Field 4 is the parent, 14 to 17 are times.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const ticks = fields.slice(11, 15).reduce((sum, time) => sum + time, 0)
    return [[pid, { parent: fields[1] as number, ticks }]]
  } catch {
    return []
  }
}
