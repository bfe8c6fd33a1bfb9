// A locker's files as they stand at one moment, page by page, whatever is written meanwhile.

/** An entry of a locker's manifest: what is attested of it, and the object that holds its bytes. */
export type ListedFile = [
  filename: string,
  sizeBytes: number | null,
  contentHash: string | null,
  contentType: string,
  objectId: string | null,
  providerRef: string | null,
]

export interface LockerReading {
  manifestVersion: number
  borderKey: string
  /** All that the manifest lists, in code-point order. */
  pages(): AsyncIterable<ListedFile[]>
  close(): Promise<void>
}

/** Larger ones are not read faster, and outlive the cheap part of garbage collection. */
export const PAGE = 1000
