// The keys that may sign the statements of a log: those that its gateway named when it was first seen, and those that
// they lead to by endorsements.

import type { FollowedKeys } from '@svc/protocol/follow-keys'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { followedKeys, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { Unreadable } from './bounded-get.ts'
import type { GatewayReader } from './gateway-reader.ts'

export interface Pinned {
  /** A signing-key list. */
  keys: string
  domainTag: string
}

export async function pinKeys(gateway: GatewayReader): Promise<Pinned> {
  const keys = await gateway.keys()
  const read = readPinnedKeys(keys)
  if (!read.ok) throw new Unreadable(`the gateway's list of keys cannot be used: ${read.problem}`)
  return { keys, domainTag: await gateway.domainTag() }
}

const MAX_LIST_LENGTH = 1024 * 1024

/** With the endorsements and revocations that the gateway shows now. */
export async function trustedKeys({ keys }: Pinned, gateway: GatewayReader): Promise<FollowedKeys> {
  const pinned = readPinnedKeys(keys)
  if (!pinned.ok) throw new Error('the pinned keys were readable once')
  const newest = await gateway.keys()
  try {
    return followedKeys({ pinnedKeys: pinned.keys, listed: pinned }, parseStrictJson(newest, MAX_LIST_LENGTH))
  } catch (cause) {
    throw new Unreadable(`the gateway's list of keys cannot be read: ${(cause as Error).message}`, { cause })
  }
}
