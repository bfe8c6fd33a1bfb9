// The logs and witnesses that a log proof is checked against: the ones in --log-key and --policy. Without either, it is
// the log of the pinned keys.

import { readFile } from 'node:fs/promises'
import type { NoteKey } from '@svc/protocol/transparency/note'
import { readPolicy } from '@svc/protocol/transparency/policy'
import type { GivenLogs } from '@svc/verifier/log-facts'
import { readLogKey } from '@svc/verifier/pinned-keys'
import { UsageError } from '../errors.ts'

export interface LogOptions {
  logKey?: string[]
  policy?: string
}

export async function givenLogs({ logKey = [], policy }: LogOptions): Promise<GivenLogs> {
  return {
    pinnedLogs: logKey.map(logKeyOf),
    ...(policy !== undefined && { policy: await policyOf(policy) }),
  }
}

function logKeyOf(text: string): NoteKey {
  const key = readLogKey(text)
  if (typeof key !== 'string') return key
  throw new UsageError(`--log-key: ${key}`, '`GET /v1/log` of a gateway shows its key; name witnesses in --policy')
}

async function policyOf(path: string) {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`${path} cannot be read as a policy: ${error.message}`)
  })
  const policy = readPolicy(text)
  if (typeof policy === 'string') throw new UsageError(`${path}: ${policy}`, 'docs/transparency.md has an example')
  return policy
}
