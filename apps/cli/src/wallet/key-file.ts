import { open } from 'node:fs/promises'
import { Failure } from '../failures.ts'

const MAX_BYTES = 16 * 1024

/** The text of a key file, if nobody else can read it. */
export async function readKeyFile(path: string): Promise<string> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : error.message
    throw new Failure(`the wallet ${path} cannot be read: ${why}`, 'name a key file with --wallet or SVC_WALLET')
  })
  try {
    // Of the file that is open, not of what the path may name a moment later.
    const { mode, size } = await file.stat()
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new Failure(`others can read the wallet ${path}: it is refused`, `chmod 600 ${shellWord(path)}`)
    if (size > MAX_BYTES) throw new Failure(`${path} is too long to be a key file`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** As it can be pasted. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
