// The files of a folder for a bundle that lists some of them encrypted. Ciphertext in the folder is compared with the
// list and then decrypted; where only the plaintext is there, it is encrypted again, which gives the same bytes.

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { hashContent } from '@svc/protocol/sha256'
import { ENCRYPTED_ENDING, plainName } from '@svc/sdk'
import { decrypted, encrypted } from '@svc/sdk/encryption'
import { DecryptionError } from '@svc/sdk/errors'
import { fileSource, type folderSource } from '@svc/sdk/node'
import type { FileSource } from '@svc/verifier/check-files'
import type { Decrypt } from '../files/encryption.ts'

export interface DecryptionReport {
  /** Encrypted files that this key decrypts, to the last byte. */
  decrypted: number
  /** Of these, the files whose plaintext is in the folder too, and the same. */
  compared: number
  /** Files of which only the plaintext is there: it was encrypted again and compared with the list. */
  encrypted_again: number
  failed: { filename: string; why: string }[]
}

export interface DecryptedFiles {
  source: FileSource
  /** To be called after the bundle was verified. */
  report(): Promise<DecryptionReport>
}

export function decryptedFiles(dir: string, folder: ReturnType<typeof folderSource>, { key }: Decrypt): DecryptedFiles {
  const withCiphertext: string[] = []
  let encryptedAgain = 0
  let compared = 0
  const isThere = (name: string) =>
    access(join(dir, name)).then(
      () => true,
      () => false,
    )

  async function open(filename: string) {
    const bytes = await folder.open(filename)
    if (!filename.endsWith(ENCRYPTED_ENDING)) return bytes
    if (bytes !== null) {
      withCiphertext.push(filename)
      return bytes
    }
    const plaintext = await folder.open(plainName(filename))
    if (plaintext === null) return null
    plaintext.destroy()
    encryptedAgain++
    return (await encrypted(await fileSource(join(dir, plainName(filename))), filename, key)).open()
  }

  async function* names(): AsyncGenerator<string> {
    // Plaintext beside its ciphertext is compared with that.
    for await (const name of folder.names?.() ?? []) if (!(await isThere(name + ENCRYPTED_ENDING))) yield name
  }

  async function problemOf(filename: string): Promise<string | null> {
    const bytes = await folder.open(filename)
    const plaintext = bytes && (await hashContent(await decrypted(bytes, [key]), Number.POSITIVE_INFINITY))
    const beside = await folder.open(plainName(filename))
    if (beside === null) return null
    compared++
    const own = await hashContent(beside, Number.POSITIVE_INFINITY)
    return own?.content_hash === plaintext?.content_hash ? null : `${plainName(filename)} is not its plaintext`
  }

  return {
    source: {
      open,
      nameOf: async (filename) => ((await isThere(filename)) ? filename : plainName(filename)),
      ...(folder.names && { names }),
    },
    async report() {
      const failed: DecryptionReport['failed'] = []
      for (const filename of withCiphertext) {
        const why = await problemOf(filename).catch((error: unknown) => {
          if (error instanceof DecryptionError) return error.message
          throw error
        })
        if (why !== null) failed.push({ filename, why })
      }
      return { decrypted: withCiphertext.length - failed.length, compared, encrypted_again: encryptedAgain, failed }
    },
  }
}
