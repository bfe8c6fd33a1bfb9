// What ends somebody's access. A database that was set back does not know of it, and would let them in again (T-161).

import type { Endorsement, Revocation } from '@svc/protocol/key-changes'

export type Revoked =
  /** `epoch`: the access epoch of the locker from then on. */
  | { what: 'operator'; locker: string; operator: string; epoch: number }
  | { what: 'urls'; locker: string; epoch: number }
  | { what: 's3_key'; locker: string; key: string }
  /** Closed, or opened by another id only. */
  | { what: 'link'; locker: string }
  /** Null: lifted. */
  | { what: 'restriction'; locker: string; restriction: 'frozen' | 'taken_down' | null; notice: string | null }
  /** Keys that sign or were to sign, in hex. What they say of each other is public. */
  | { what: 'announced_key'; key: string }
  | { what: 'rotation'; from: string; to: string; at: string; endorsement: Endorsement | null }
  | {
      what: 'signing_key'
      key: string
      since: string
      revocations: Revocation[]
      endorsement: Endorsement | null
    }

const KINDS: Record<Revoked['what'], true> = {
  operator: true,
  urls: true,
  s3_key: true,
  link: true,
  restriction: true,
  announced_key: true,
  rotation: true,
  signing_key: true,
}

/** Null for what is not known here, or not whole. */
export function parseRevoked(text: string): Revoked | null {
  try {
    const revoked = JSON.parse(text) as Revoked
    return Object.hasOwn(KINDS, revoked.what) ? revoked : null
  } catch {
    return null
  }
}

/** For people, in a line. */
export function describeRevoked(revoked: Revoked): string {
  if (revoked.what === 'rotation') return `rotation from ${revoked.from} to ${revoked.to}`
  if (revoked.what === 'signing_key') return `signing key ${revoked.key}, stolen since ${revoked.since}`
  if (revoked.what === 'announced_key') return `announcement of the key ${revoked.key}`
  const { locker } = revoked
  if (revoked.what === 'operator') return `operator ${revoked.operator} of ${locker}`
  if (revoked.what === 's3_key') return `S3 key ${revoked.key} of ${locker}`
  if (revoked.what === 'restriction') return `restriction of ${locker}: ${revoked.restriction ?? 'none'}`
  return revoked.what === 'link' ? `public link of ${locker}` : `all URLs of ${locker}`
}
