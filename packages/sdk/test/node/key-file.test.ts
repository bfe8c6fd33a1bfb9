import { randomBytes } from 'node:crypto'
import { chmod, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { describe, expect, it } from 'vitest'
import { KeyFileError, parseKey, readKeyFile } from '../../src/node/key-file.ts'
import { useFolder } from '../lockers.ts'

const seed = randomBytes(32)
const publicKey = ed25519Signer(seed).publicKey
const keypair = [...seed, ...publicKey]
const address = toBase58(publicKey)
const evm = DEV_PAYERS[0]!
const evmAddress = evm.address.toLowerCase()

describe('parseKey', () => {
  it.each([
    ['a keypair of the Solana tools', JSON.stringify(keypair), 'solana', address],
    ['a keypair with line breaks', `${JSON.stringify(keypair, null, 1)}\n`, 'solana', address],
    ['a key exported by a browser wallet', `${toBase58(Uint8Array.from(keypair))}\n`, 'solana', address],
    ['an EVM key', evm.privateKey, 'eip155', evmAddress],
    ['an EVM key without 0x, in capitals', evm.privateKey.slice(2).toUpperCase(), 'eip155', evmAddress],
  ])('reads %s', async (_, text, namespace, expected) => {
    const key = parseKey(text, 'file')
    expect([key.namespace, key.signer.address]).toEqual([namespace, expected])
    expect(await key.wallet('http://127.0.0.1:9')).toMatchObject({ namespace, address: expected, isLocal: true })
  })

  it.each([
    ['an encrypted keystore', '{"crypto":{"ciphertext":"c0ffee"}}', 'encrypted'],
    ['a truncated keypair', JSON.stringify(keypair.slice(1)), 'no_key'],
    ['numbers that are not bytes', JSON.stringify([...keypair.slice(1), 256]), 'no_key'],
    ['broken JSON', JSON.stringify(keypair).slice(0, -1), 'no_key'],
    ['a keypair whose halves do not match', JSON.stringify([...seed, ...randomBytes(32)]), 'no_key'],
    ['a seed alone', toBase58(seed), 'no_key'],
    ['a number outside the range of EVM keys', 'f'.repeat(64), 'no_key'],
    ['an empty text', '', 'no_key'],
  ])('refuses %s without showing any of it', (_, text, code) => {
    const error = thrownBy(() => parseKey(text, 'my file'))
    expect(error).toMatchObject({ code, message: expect.stringContaining('my file') })
    const shown = `${error.message} ${error.stack} ${JSON.stringify(error)} ${error.cause}`
    expect(shown).not.toMatch(new RegExp(`c0ffee|f{20}|${seed[0]},${seed[1]}|${toBase58(seed).slice(0, 8)}`))
  })
})

describe('readKeyFile', () => {
  const folder = useFolder()

  async function keyFile(name: string, text: string, mode: number): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, text)
    await chmod(path, mode)
    return path
  }

  it.each([0o600, 0o400])('reads a file that only its owner can access (mode %o)', async (mode) => {
    const path = await keyFile(`own-${mode}`, evm.privateKey, mode)
    expect((await readKeyFile(path)).signer.address).toBe(evmAddress)
  })

  it.each([0o640, 0o604, 0o620, 0o602, 0o660, 0o644, 0o610])(
    'refuses a file that others can access (mode %o)',
    async (mode) => {
      const path = await keyFile(`shared-${mode}`, evm.privateKey, mode)
      await expect(readKeyFile(path)).rejects.toMatchObject({ code: 'readable_by_others' })
    },
  )

  it('checks the mode of the target of a symbolic link', async () => {
    const path = join(folder, 'link')
    await symlink(await keyFile('shared', evm.privateKey, 0o644), path)
    await expect(readKeyFile(path)).rejects.toMatchObject({ code: 'readable_by_others' })
  })

  it('refuses a missing file, a folder, and a file that is too long', async () => {
    await expect(readKeyFile(join(folder, 'nowhere'))).rejects.toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining('no such file'),
    })
    await expect(readKeyFile(folder)).rejects.toBeInstanceOf(KeyFileError)
    const long = await keyFile('long', evm.privateKey.padEnd(20_000), 0o600)
    await expect(readKeyFile(long)).rejects.toMatchObject({ code: 'no_key' })
  })
})

function thrownBy(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}
