import * as keys from '@svc/sdk/node'
import { Failure } from '../failures.ts'

export interface Key extends keys.Key {
  address: string
  /** For people: which file or variable it came from. */
  from: string
}

export async function keyInFile(path: string): Promise<Key> {
  const key = await keys.readKeyFile(path).catch(failed(path))
  return { ...key, address: key.signer.address, from: path }
}

export function keyInText(text: string, from: string): Key {
  try {
    const key = keys.parseKey(text, from)
    return { ...key, address: key.signer.address, from }
  } catch (error) {
    return failed(from)(error)
  }
}

function failed(from: string) {
  return (error: unknown): never => {
    if (!(error instanceof keys.KeyFileError)) throw error
    throw new Failure(`the wallet does not serve: ${error.message}`, hintFor(error.code, from))
  }
}

function hintFor(code: keys.KeyFileError['code'], from: string): string {
  switch (code) {
    case 'readable_by_others':
      return `chmod 600 ${shellWord(from)}`
    case 'encrypted':
      return 'export the plain key to a file with mode 600, and name that'
    default:
      return 'name a key file with --wallet or SVC_WALLET'
  }
}

/** As it can be pasted. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
