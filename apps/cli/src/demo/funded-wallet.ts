import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { Failure } from '../failures.ts'
import { type Key, keyInText } from '../wallet/key.ts'

/** A wallet nobody has had before, with coins from a local chain's faucet. */
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
    throw new Failure(`${rpcUrl} has no faucet: ${error.message}`, 'the demo plays on local chains only: `npm start`')
  })
  return { file, key }
}

/** As Solana's tools write it: 32 secret bytes, 32 public ones. */
function newKeypair(): number[] {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  return [...Buffer.from(d, 'base64url'), ...Buffer.from(x, 'base64url')]
}
