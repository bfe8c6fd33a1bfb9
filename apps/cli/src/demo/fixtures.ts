import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { Failure } from '../errors.ts'
import { type Key, keyInText } from '../setup/wallet.ts'

/** Creates a wallet with coins from the faucet of a local chain. */
export async function fundedWallet(
  folder: string,
  { asset, isEvm, rpcUrl, signal }: { asset: string; isEvm: boolean; rpcUrl: string; signal: AbortSignal },
): Promise<{ file: string; key: Key }> {
  const file = join(folder, isEvm ? 'evm-key' : 'keypair.json')
  const text = isEvm ? `0x${randomBytes(32).toString('hex')}\n` : `${JSON.stringify(newKeypair())}\n`
  await writeFile(file, text, { mode: 0o600, flag: 'wx' })
  const key = keyInText(text, file)
  const faucet = jsonRpc(rpcUrl, { signal })
  await faucet('dev_faucet', [key.address, asset, '10']).catch((error: Error) => {
    throw new Failure(`${rpcUrl} has no faucet: ${error.message}`, 'the demo runs on local chains only: `npm start`')
  })
  return { file, key }
}

/** In the format of the Solana tools: 32 secret bytes, then 32 public ones. */
function newKeypair(): number[] {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  return [...Buffer.from(d, 'base64url'), ...Buffer.from(x, 'base64url')]
}

const FILES: Record<string, string> = {
  'contract.txt': 'The parties agree that the sum is 100.\n',
  'notes/meeting.md': '# Meeting\n\nEverybody agreed.\n',
  'notes/results.csv': 'sample,value\n1,0.52\n2,0.54\n',
}

export const TAMPERED = 'contract.txt'

export async function writeSamples(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}

/** Changes one character: 100 becomes 900. */
export async function tamper(folder: string): Promise<void> {
  const at = (FILES[TAMPERED] as string).indexOf('100')
  const file = await open(join(folder, TAMPERED), 'r+')
  await file.write('9', at)
  await file.close()
}
