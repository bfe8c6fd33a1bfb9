// The witnessed logs and other witnesses: a policy in a file that may change while the program runs.

import { readFileSync, statSync } from 'node:fs'
import type { NoteKey } from '@svc/protocol/transparency/note'
import { type Policy, readPolicy } from '@svc/protocol/transparency/policy'
import { ConfigError } from '@svc/service/program/config'
import type { Log } from '@svc/service/program/log'

export interface KnownLogs {
  /** The current content of the file. */
  all(): Followed
  /** The keys of the log with this origin; empty for an unknown log. */
  keysOf(origin: string): readonly NoteKey[]
}

/** A monitored log has an address. */
type Followed = Pick<Policy, 'logs' | 'witnesses'>

const EMPTY: Followed = { logs: [], witnesses: [] }

/** Throws when the file is unusable. A later change that is unusable is logged and ignored. */
export function openKnownLogs(file: string, log: Log): KnownLogs {
  let version = versionOf(file)
  let followed = EMPTY
  if (version === null) log.warn(`no logs are configured: ${file} does not exist`)
  else followed = usable(readFollowed(file))

  function all(): Followed {
    const newest = versionOf(file)
    if (newest === version) return followed
    version = newest
    const changed = newest === null ? `${file} was deleted` : readFollowed(file)
    if (typeof changed === 'string') log.error(`the list of logs stays unchanged: ${changed}`)
    else followed = changed
    return followed
  }

  return {
    all,
    keysOf: (origin) => all().logs.flatMap(({ key }) => (key.name === origin ? [key] : [])),
  }
}

function usable(followed: Followed | string): Followed {
  if (typeof followed === 'string') throw new ConfigError([followed])
  return followed
}

/** Null while the file does not exist. */
function versionOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : null
}

/** The policy, or the problem. A witness without a monitor needs no quorum. */
function readFollowed(file: string): Followed | string {
  try {
    const text = readFileSync(file, 'utf8')
    const policy = readPolicy(/^\s*quorum\s/m.test(text) ? text : `${text}\nquorum none`)
    return typeof policy === 'string' ? `${file}: ${policy}` : policy
  } catch (error) {
    return `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`
  }
}
