import { watchChanges } from '@svc/devnet/change-log'
import { answerCheck } from '../answers.ts'
import { preparedBy } from '../prepare.ts'
import type { ContractHouse } from '../run.ts'
import { gatewayRecipes } from './recipes.ts'
import { credentialsOf, type GatewayWorld } from './world.ts'

export async function gatewayHouse(world: GatewayWorld): Promise<ContractHouse> {
  const { main, description, line } = world
  const values = {
    receipt_id: main.receiptId,
    locker_id: main.lockerId,
    filename: main.filename,
    filenames: [main.filename],
  }
  return {
    operations: description.operations,
    line,
    check: answerCheck(description),
    prepare: preparedBy({ values, credentials: credentialsOf(world), recipes: gatewayRecipes(world) }),
    changes: await watchChanges(world.gateway.context.database),
    mayChange: MAY_CHANGE,
    unreached: {},
  }
}

/** Tables that a refused request may change. */
const MAY_CHANGE = {
  nonces: 'an envelope works once, whatever comes of it',
  rate_limits: 'refused requests count, too',
  audit_log: 'attempts of the operator that are refused are logged',
}
