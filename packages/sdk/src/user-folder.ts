// Where programs keep what is their user's, for Node.

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

type Variables = Readonly<Record<string, string | undefined>>

const BELOW_HOME = { XDG_CONFIG_HOME: '.config', XDG_CACHE_HOME: '.cache' }

/**
 * The folder of `svc`, after the XDG rule: a path that is not absolute does not count. Null where nobody says which: one
 * below wherever a command happens to run would forget what was paid, and could be somebody else's.
 */
export function userFolder(env: Variables, variable: keyof typeof BELOW_HOME): string | null {
  const named = env[variable] ?? ''
  if (isAbsolute(named)) return join(named, 'svc')
  const home = homeFolder(env)
  return home && join(home, BELOW_HOME[variable], 'svc')
}

export function homeFolder({ HOME }: Variables): string | null {
  const home = HOME || homeOfUser()
  return isAbsolute(home) ? home : null
}

function homeOfUser(): string {
  try {
    return homedir()
  } catch {
    // Containers often run as a user whom the system does not know.
    return ''
  }
}
