// The keys that may sign the statements of a log: the keys that its gateway listed when it was first read, and their
// successors by endorsement. Successors are stored once accepted, because a key that is revoked later no longer
// endorses anything.

import type { Json } from '@svc/protocol/canonical'
import { type FollowedBefore, type FollowedKeys, followKeys } from '@svc/protocol/follow-keys'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { listedChanges, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { Unreadable } from './bounded-get.ts'
import type { GatewayReader } from './gateway-reader.ts'

export interface Pinned {
  /** A signing-key list. */
  keys: string
  domainTag: string
  followed: FollowedBefore[]
}

export async function pinKeys(gateway: GatewayReader): Promise<Pinned> {
  const keys = await gateway.keys()
  const read = readPinnedKeys(keys)
  if (!read.ok) throw new Unreadable(`the gateway's list of keys cannot be used: ${read.problem}`)
  return { keys, domainTag: await gateway.domainTag(), followed: [] }
}

/** Applies the endorsements and revocations that the gateway shows now; `pinned` is the part to store. */
export async function trustedKeys(
  pinned: Pinned,
  gateway: GatewayReader,
  now: number,
): Promise<{ keys: FollowedKeys; pinned: Pinned }> {
  const first = readPinnedKeys(pinned.keys)
  if (!first.ok) throw new Error('the stored pinned keys are not readable')
  const { endorsements, revocations } = listedChanges(parsed(await gateway.keys()))
  const keys = followKeys({
    pinned: first.keys,
    before: pinned.followed,
    recovery: first.recovery,
    changes: {
      endorsements: [...first.changes.endorsements, ...endorsements],
      revocations: [...first.changes.revocations, ...revocations],
    },
  })
  const steps = [...keys.paths].map(([hex, path]) => {
    return { at: now, keys: keys.keys.filter(({ publicKeyHex }) => publicKeyHex === hex), endorsements: path }
  })
  return { keys, pinned: { ...pinned, followed: [...pinned.followed, ...steps] } }
}

const MAX_LIST_LENGTH = 1024 * 1024

function parsed(list: string): Json {
  try {
    return parseStrictJson(list, MAX_LIST_LENGTH)
  } catch (cause) {
    throw new Unreadable(`the gateway's list of keys cannot be read: ${(cause as Error).message}`, { cause })
  }
}
