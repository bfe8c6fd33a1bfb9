import { KeyFileError, readPrivately } from './key-file.ts'

/** Reads the identities in a file of `age-keygen`. Refuses a file that others can read. */
export async function readIdentityFile(path: string): Promise<string[]> {
  // The ciphers are large, so only encryption loads them.
  const { secretOf } = await import('../encryption/recipients.ts')
  const lines = (await readPrivately(path)).split('\n').map((line) => line.trim())
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (/^(age-encryption\.org|-----BEGIN AGE)/.test(identities[0] ?? ''))
    throw new KeyFileError('encrypted', `${path} is itself encrypted`)
  if (identities.length === 0 || !identities.every(secretOf))
    throw new KeyFileError('no_key', `${path} contains no age identity (AGE-SECRET-KEY-1…)`)
  return identities
}
