// A gateway with lockers whose owner keys are known.

import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import type { SigAlg } from '@svc/protocol/keys'
import { reportTo } from '../server-process.ts'
import { ownerIdentity } from '../signed-requests.ts'
import { startProductionGateway } from './production-gateway.ts'

const { LOCKERS = '1', FILES = '0', SIG_ALG = 'ed25519' } = process.env
const gateway = await startProductionGateway()
const lockers = []
for (let i = 0; i < Number(LOCKERS); i++) {
  const owner = ownerIdentity(i, SIG_ALG as SigAlg)
  const { locker_id, receipt_id } = await seedLocker(gateway.context, { owner })
  await seedFiles(gateway.context, locker_id, Number(FILES))
  lockers.push({ locker_id, receipt_id })
}
reportTo(process, gateway.url, gateway.stop, lockers)
