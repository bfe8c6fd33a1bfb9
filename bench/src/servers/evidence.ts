// A gateway with attested lockers.

import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import { seedStatement } from '@svc/devnet/services/seed-statements'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { reportTo } from '../server-process.ts'
import { ownerSeed } from '../signed-requests.ts'
import { startProductionGateway } from './production-gateway.ts'

const { LOCKERS = '1', FILES = '10' } = process.env
const gateway = await startProductionGateway()
const receiptIds: string[] = []
for (let i = 0; i < Number(LOCKERS); i++) {
  const owner = toBase58(ed25519Signer(ownerSeed(i)).publicKey)
  const locker = await seedLocker(gateway.context, { owner })
  await seedFiles(gateway.context, locker.locker_id, Number(FILES))
  await seedStatement(gateway.context, locker)
  receiptIds.push(locker.receipt_id)
}
reportTo(process, gateway.url, gateway.stop, receiptIds)
