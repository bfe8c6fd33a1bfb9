// When a failed job is tried again; pg-boss does the same from the same two numbers.

export const FIRST_RETRY_SECONDS = 5
export const LONGEST_RETRY_SECONDS = 3600

/** Doubles with each attempt, and lasts up to twice as long by chance: what failed together does not come back together. */
export function retryDelaySeconds(attempt: number, randomBytes: (length: number) => Uint8Array): number {
  const chance = new DataView(Uint8Array.from(randomBytes(4)).buffer).getUint32(0) / 2 ** 32
  return Math.min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** (attempt - 1) * (1 + chance))
}
