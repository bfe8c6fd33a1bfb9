// Unfinished uploads whose files were chosen again.

import type { UploadRecord } from './records.ts'
import type { Encrypt, NewUpload } from './upload-list.ts'

export interface RechosenFile {
  record: Pick<UploadRecord, 'filename' | 'size' | 'lastModified' | 'isEncrypted' | 'mayReplace'>
  file: File
  handle: FileSystemFileHandle | null
}

/** Whether size and time match. The hash decides later: other content starts a new upload. */
export function isSame({ size, lastModified }: RechosenFile['record'], file: File): boolean {
  return file.size === size && file.lastModified === lastModified
}

/** The uploads to continue in their original form: encrypted ones only with a key (T-59). */
export function continuedUploads(
  found: readonly RechosenFile[],
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
