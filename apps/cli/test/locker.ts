// For tests: a gateway behind a faulty proxy, and a home whose owner has a locker there.

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { type Signer, signerFromSeed } from '@svc/sdk'
import { type House, openHouse } from '@svc/sdk/test/lockers'
import { openHome, type TestHome } from './world.ts'

export interface LockerHome extends TestHome {
  house: House
  receiptId: string
}

export async function openLockerHome(): Promise<LockerHome> {
  const house = await openHouse()
  const home = await openHome({ SVC_GATEWAY: house.proxy.url })
  const { file, signer } = await newWallet(home.folder, 'owner.json')
  const { receipt_id } = await house.locker(signer)
  const gatewayKey = toHex(house.gateway.context.signers.statement.publicKey)
  const settings = [
    ['lockers', 'add', receipt_id, '--name', 'photos'],
    ['config', 'set', 'wallet', file],
    ['keys', 'pin', gatewayKey],
  ]
  for (const args of settings) await home.svc(args)
  return {
    ...home,
    house,
    receiptId: receipt_id,
    async leave() {
      await house.close()
      await home.leave()
    },
  }
}

/** Writes a keypair file in the format of the Solana tools. */
export async function newWallet(folder: string, name: string): Promise<{ file: string; signer: Signer }> {
  const seed = randomBytes(32)
  const file = join(folder, name)
  await writeFile(file, JSON.stringify([...seed, ...ed25519Signer(seed).publicKey]), { mode: 0o600 })
  return { file, signer: signerFromSeed(seed) }
}
