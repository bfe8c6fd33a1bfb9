import { type Download, plainName } from '@svc/sdk'
import { type SaveOptions, saveAs } from '@svc/sdk/node'
import { openDownload } from './encryption.ts'
import { resumingText } from './outcomes.ts'
import { type GetOptions, targetPath } from './safe-path.ts'

interface Saving extends Pick<SaveOptions, 'onBytes'> {
  /** The name on disk before decryption. */
  name: string
  note: (text: string) => void
}

/**
 * Saves a download, decrypted if requested, and returns its name and whether the saved file is encrypted. A
 * decrypted download does not resume, because a partial plaintext does not show its position in the ciphertext.
 */
export async function saveDownload(
  download: Download,
  { name, note, onBytes }: Saving,
  options: GetOptions,
): Promise<{ savedAs: string; isEncrypted: boolean }> {
  const { file, overwrite: replace = false, decrypt = null } = options
  const { download: opened, isEncrypted, isDecrypted } = await openDownload(download, decrypt)
  const savedName = isDecrypted ? plainName(name) : name
  await saveAs(opened, await targetPath(savedName, options), {
    replace,
    resume: !isDecrypted,
    onResume: (kept, size) => note(resumingText(download.filename, kept, size)),
    ...(onBytes && { onBytes }),
  })
  return { savedAs: file ?? savedName, isEncrypted }
}
