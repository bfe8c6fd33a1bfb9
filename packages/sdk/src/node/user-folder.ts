// The folders in which programs store the files of their user.

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

type Variables = Readonly<Record<string, string | undefined>>

const BELOW_HOME = { XDG_CONFIG_HOME: '.config', XDG_CACHE_HOME: '.cache' }

/**
 * The folder of `svc` by the XDG rules, which ignore paths that are not absolute. Null if there is no home: a folder
 * below the working directory would not be found again, and could belong to another user.
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
    // Containers often run as a user without an entry in the system.
    return ''
  }
}
