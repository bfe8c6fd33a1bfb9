// The files of a folder for a bundle that lists some of them encrypted. Ciphertext in the folder is compared with the
// list and then decrypted. If only the plaintext is there, it is encrypted again, which gives the same bytes.

import { join } from 'node:path'
import { hashContent } from '@svc/protocol/sha256'
import { ENCRYPTED_ENDING, plainName } from '@svc/sdk'
import { decrypted, encrypted } from '@svc/sdk/encryption'
import { DecryptionError } from '@svc/sdk/errors'
import { fileSource, type folderSource } from '@svc/sdk/node'
import type { FileSource } from '@svc/verifier/check-files'
import type { Decrypt } from '../files/encryption.ts'

export interface DecryptionReport {
  /** The number of encrypted files that this key decrypts completely. */
  decrypted: number
  /** How many of these have identical plaintext beside them in the folder. */
  compared: number
  /** The number of files with only the plaintext in the folder: it was encrypted again and compared with the list. */
  encrypted_again: number
  failed: { filename: string; why: string }[]
}

export interface DecryptedFiles {
  source: FileSource
  /** Call after the bundle was verified. */
  report(): Promise<DecryptionReport>
}

/** The files of one bundle. */
export function decryptedFiles(dir: string, folder: ReturnType<typeof folderSource>, { key }: Decrypt): DecryptedFiles {
  const opened = new Map<string, 'ciphertext' | 'plaintext'>()
  const openedAs = (form: 'ciphertext' | 'plaintext') =>
    [...opened].flatMap(([name, its]) => (its === form ? [name] : []))

  async function open(filename: string) {
    const bytes = await folder.open(filename)
    if (!filename.endsWith(ENCRYPTED_ENDING)) return bytes
    if (bytes !== null) {
      opened.set(filename, 'ciphertext')
      return bytes
    }
    const plaintext = await folder.open(plainName(filename))
    if (plaintext === null) return null
    plaintext.destroy()
    opened.set(filename, 'plaintext')
    return (await encrypted(await fileSource(join(dir, plainName(filename))), filename, key)).open()
  }

  function namesOf(filename: string): string[] {
    const form = opened.get(filename)
    if (form === undefined) return [filename]
    // Plaintext beside its ciphertext is compared with the ciphertext.
    return form === 'plaintext' ? [plainName(filename)] : [filename, plainName(filename)]
  }

  /** Whether the folder has the plaintext too. Throws if it differs, or if this key does not decrypt the file. */
  async function hasEqualPlaintext(filename: string): Promise<boolean> {
    const bytes = await folder.open(filename)
    const plaintext = bytes && (await hashContent(await decrypted(bytes, [key]), Number.POSITIVE_INFINITY))
    const beside = await folder.open(plainName(filename))
    if (beside === null) return false
    const own = await hashContent(beside, Number.POSITIVE_INFINITY)
    if (own?.content_hash === plaintext?.content_hash) return true
    throw new DecryptionError('damaged', `${plainName(filename)} is not its plaintext`)
  }

  return {
    source: { ...folder, open, namesOf },
    async report() {
      const report: DecryptionReport = {
        decrypted: 0,
        compared: 0,
        encrypted_again: openedAs('plaintext').length,
        failed: [],
      }
      for (const filename of openedAs('ciphertext')) {
        try {
          if (await hasEqualPlaintext(filename)) report.compared++
          report.decrypted++
        } catch (error) {
          if (!(error instanceof DecryptionError)) throw error
          report.failed.push({ filename, why: error.message })
        }
      }
      return report
    },
  }
}
