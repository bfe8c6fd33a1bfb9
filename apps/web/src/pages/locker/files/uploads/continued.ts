// Unfinished uploads whose files are here again.

import type { UploadRecord } from './records.ts'
import type { Encrypt, NewUpload } from './upload-list.ts'

export interface FoundAgain {
  record: Pick<UploadRecord, 'filename' | 'size' | 'lastModified' | 'isEncrypted' | 'mayReplace'>
  file: File
  handle: FileSystemFileHandle | null
}

/** As far as names, sizes and times tell. The hash decides: other bytes begin a new upload. */
export function isSame({ size, lastModified }: FoundAgain['record'], file: File): boolean {
  return file.size === size && file.lastModified === lastModified
}

/** Those that go on, as they began: encrypted ones with a key, or not at all (T-59). */
export function continuedUploads(
  found: readonly FoundAgain[],
  encrypt: Encrypt | null,
): { files: NewUpload[]; changed: number } {
  const same = found.filter(({ record, file }) => isSame(record, file))
  const files = same
    .filter(({ record }) => !record.isEncrypted || encrypt !== null)
    .map(({ record: { filename, isEncrypted, mayReplace = false }, file, handle }) => {
      return { filename, file, handle, encrypt: isEncrypted ? encrypt : null, mayReplace }
    })
  return { files, changed: found.length - same.length }
}
