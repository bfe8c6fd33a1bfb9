import { answerCheck } from '../answers.ts'
import type { Operation } from '../operation.ts'
import { type Prepared, preparedBy } from '../prepare.ts'
import type { ContractTarget } from '../run.ts'
import { aboutAnother, CONDITIONS, type Condition, isAboutMain } from './conditions.ts'
import { credentialsOf, type GatewayFixture, ORACLE_SECRET } from './fixture.ts'
import { gatewayRecipes } from './recipes.ts'

export function gatewayTarget(fixture: GatewayFixture): ContractTarget {
  const { main, description, line, changes } = fixture
  const values = {
    receipt_id: main.receiptId,
    locker_id: main.lockerId,
    filename: main.filename,
    filenames: [main.filename],
  }
  const prepare = preparedBy({ values, credentials: credentialsOf(fixture), recipes: gatewayRecipes(fixture) })

  async function prepareWith(condition: Condition, operation: Operation): Promise<Prepared | null> {
    const before = fixture.latest()
    const given = await prepare(operation)
    const made = fixture.latest()
    if (made === before && !isAboutMain(fixture, given)) return null
    const own = made === null || made === before ? await fixture.file() : made
    return aboutAnother(fixture, await condition(fixture, own), own, given)
  }

  return {
    operations: description.operations,
    line,
    check: answerCheck(description),
    prepare,
    conditions: Object.fromEntries(
      Object.entries(CONDITIONS).map(([name, condition]) => [name, (operation) => prepareWith(condition, operation)]),
    ),
    changes,
    mayChange: MAY_CHANGE,
    words: WORDS,
    unreached: {},
  }
}

const WORDS = {
  pay_network: ['primary-mainnet', 'evm-mainnet', 'eip155:143'],
  pay_asset: ['SOL', 'USDC', 'MON', 'BETA'],
  sequence: [1],
  content_type: ['text/plain', 'image/png'],
  prefix: ['notes/', ''],
  filename: ['c.txt', 'notes/c.txt'],
  expected_hash: [`sha256:${'0'.repeat(64)}`],
  tags: [['cron_attest']],
  Range: ['bytes=0-1', 'bytes=-1'],
  'If-None-Match': ['*'],
  'X-Oracle-Secret': [ORACLE_SECRET],
}

/** Tables that a rejected request may change, and why. */
export const MAY_CHANGE = {
  nonces: 'an envelope is used up, whatever its outcome',
  rate_limits: 'rejected requests count, too',
  journal_files: 'a timer records the position of the journal',
  journal_pending: 'a timer deletes records that are in the journal',
  locker_egress: 'bytes that were sent are counted later',
  audit_log: 'rejected attempts of the admin are logged',
}
