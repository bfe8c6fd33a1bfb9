import { randomBytes } from 'node:crypto'
import { chmod, writeFile } from 'node:fs/promises'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { describe, expect, it } from 'vitest'
import { exits, jsonDocument, useHome } from '../host.ts'

const seed = randomBytes(32)
const publicKey = ed25519Signer(seed).publicKey
const keypair = [...seed, ...publicKey]
const address = toBase58(publicKey)
const [evm, otherEvm] = DEV_PAYERS as [(typeof DEV_PAYERS)[0], (typeof DEV_PAYERS)[0]]

const home = useHome()

async function keyFile(name: string, text: string, mode = 0o600): Promise<string> {
  await writeFile(home.path(name), text)
  await chmod(home.path(name), mode)
  return home.path(name)
}

async function walletsOf(args: string[], env: Record<string, string> = {}): Promise<string[]> {
  const { stdout } = await home.svc(['whoami', '--json', ...args], { env })
  return jsonDocument<{ wallets: { address: string }[] }>(stdout).wallets.map((wallet) => wallet.address)
}

describe('the wallet', () => {
  it('is rejected if others can read its file, with a hint to run chmod', async () => {
    const file = await keyFile("it's.json", JSON.stringify(keypair), 0o640)
    const hint = `chmod 600 '${file.replace("'", `'\\''`)}'`
    expect(await home.svc(['whoami', '--wallet', file])).toMatchObject(exits(1, hint))
  })

  it('comes from the option, else the variables, else the default file of the Solana tools', async () => {
    const solana = await keyFile('solana.json', JSON.stringify(keypair))
    const other = await keyFile('other', otherEvm.privateKey)
    const env = { SVC_WALLET: solana, SVC_EVM_KEY: evm.privateKey }
    expect(await walletsOf([])).toEqual([])
    expect(await walletsOf([], env)).toEqual([address, evm.address.toLowerCase()])
    expect(await walletsOf(['--wallet', other], env)).toEqual([otherEvm.address.toLowerCase()])
    await home.write('.config/solana', { 'id.json': '' })
    await keyFile('.config/solana/id.json', JSON.stringify(keypair))
    expect(await walletsOf([])).toEqual([address])
    expect(await walletsOf([], { SVC_EVM_KEY: evm.privateKey })).toEqual([evm.address.toLowerCase()])
  })

  it('never appears in the output with its private key', async () => {
    const file = await keyFile('secret', evm.privateKey)
    for (const args of [['whoami'], ['config'], ['whoami', '--json']]) {
      const { stdout, stderr } = await home.svc([...args, '--wallet', file], { env: { SVC_DEBUG: '1' } })
      expect(stdout + stderr).not.toContain(evm.privateKey.slice(2, 20))
    }
  })

  it('must exist and hold a valid key', async () => {
    expect(await home.svc(['whoami', '--wallet', '/nowhere'])).toMatchObject(exits(1, 'no such file'))
    expect(await home.svc(['whoami', '--wallet', home.folder])).toMatchObject(
      exits(1, /is a folder.*\nhint: {2}name a key file/),
    )
    const env = { SVC_EVM_KEY: toBase58(Uint8Array.from(keypair)) }
    expect(await home.svc(['whoami'], { env })).toMatchObject(exits(2, 'no EVM'))
  })
})
