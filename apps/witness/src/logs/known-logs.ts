// The logs that are witnessed, and other witnesses: a policy in a file that may change while the program runs.

import { readFileSync, statSync } from 'node:fs'
import type { NoteKey } from '@svc/protocol/transparency/note'
import { type Policy, readPolicy } from '@svc/protocol/transparency/policy'
import { ConfigError } from '@svc/service/program/config'
import type { Log } from '@svc/service/program/log'

export interface KnownLogs {
  /** As the file says now. */
  all(): Followed
  /** Those of a log by its origin: none for a log that is not known. */
  keysOf(origin: string): readonly NoteKey[]
}

/** A log has an address where it is also monitored. */
type Followed = Pick<Policy, 'logs' | 'witnesses'>

const NOBODY: Followed = { logs: [], witnesses: [] }

/** Throws where the file cannot be used. A later change that cannot be used is logged, and changes nothing. */
export function openKnownLogs(file: string, log: Log): KnownLogs {
  let version = versionOf(file)
  let followed = NOBODY
  if (version === null) log.warn(`no log is known: ${file} does not exist`)
  else followed = usable(readFollowed(file))

  function all(): Followed {
    const newest = versionOf(file)
    if (newest === version) return followed
    version = newest
    const changed = newest === null ? `${file} is gone` : readFollowed(file)
    if (typeof changed === 'string') log.error(`the known logs stay as they were: ${changed}`)
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

/** Null while there is no file. */
function versionOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : null
}

/** Or why not. Who only witnesses needs no quorum. */
function readFollowed(file: string): Followed | string {
  try {
    const text = readFileSync(file, 'utf8')
    const policy = readPolicy(/^\s*quorum\s/m.test(text) ? text : `${text}\nquorum none`)
    return typeof policy === 'string' ? `${file}: ${policy}` : policy
  } catch (error) {
    return `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`
  }
}
