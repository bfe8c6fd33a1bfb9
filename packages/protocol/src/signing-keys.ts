// Which keys of a signing-key list may have signed at a time (ADD-07).

/** Replicas whose clocks differ, or that are replaced one after the other, sign with two keys for a while. */
const HANDOVER_SECONDS = 600

/** In Unix seconds; null where a key has no such end. */
export interface KeyPeriod {
  validFrom: number | null
  validTo: number | null
}

/**
 * Among all keys of a list. What is older than its first key is that key's: the key was there before the gateway kept a
 * list.
 */
export function isKeyOfTime(key: KeyPeriod, all: readonly KeyPeriod[], unixSeconds: number): boolean {
  const first = Math.min(...all.map(({ validFrom }) => validFrom ?? Number.NEGATIVE_INFINITY))
  const latestBegin = Math.max(unixSeconds + HANDOVER_SECONDS, first)
  return (key.validFrom ?? latestBegin) <= latestBegin && (key.validTo ?? unixSeconds) >= unixSeconds - HANDOVER_SECONDS
}
