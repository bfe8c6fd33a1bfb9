// `npm run try-real -- <service> [--spend]`: tries this code on a real service, with the operator's own account. The
// settings are those of the gateway, from the environment (`set -a; . ./.env`). Without --spend it shows what it would
// do, and what that costs at most.
//
//   npm run try-real -- prices             the price server, free of charge
//   npm run try-real -- primary --spend    a payment and a memo on Solana
//   npm run try-real -- gcs --spend        the suite of all storage drivers, on the bucket of GCS
//   npm run try-real -- ceph               the same on a real S3 store that can be started here

import { PROVIDERS } from '@svc/api/providers'
import { SettingsReader } from '@svc/service/program/config'
import { RENAMED_SETTINGS } from '../apps/gateway/src/renamed-settings.ts'
import { SETTINGS } from '../apps/gateway/src/settings.ts'
import { tryEvm } from './try-real/evm.ts'
import { tryPrices } from './try-real/prices.ts'
import { tryMemo, tryRegistry } from './try-real/primary.ts'
import { tryCeph, tryStorage } from './try-real/storage.ts'
import { type Trial, TrialFailed } from './try-real/trial.ts'

const TRIALS: Record<string, Trial> = {
  prices: tryPrices,
  primary: tryMemo,
  sas: tryRegistry,
  evm: tryEvm,
  ...Object.fromEntries(PROVIDERS.map((name) => [name, tryStorage(name)])),
  ceph: tryCeph,
}
const [FAILED, WRONG_USE, NOT_RUN] = [1, 2, 3]

const [name = '', ...options] = process.argv.slice(2)
const trial = Object.hasOwn(TRIALS, name) ? TRIALS[name] : undefined
if (!trial || options.some((option) => option !== '--spend')) {
  console.error(`usage: npm run try-real -- <${Object.keys(TRIALS).join(' | ')}> [--spend]`)
  process.exit(WRONG_USE)
}
try {
  const plan = await trial(new SettingsReader(process.env, SETTINGS, RENAMED_SETTINGS))
  console.log(plan.about.join('\n'))
  if (plan.costs !== null && !options.includes('--spend')) {
    console.log(`costs: ${plan.costs}\nNothing was sent. Add --spend to run it.`)
    process.exit(NOT_RUN)
  }
  await plan.run((sentence) => console.log(`✓ ${sentence}`))
  console.log(`${name}: passed`)
  process.exit(0)
} catch (error) {
  console.error(`✗ ${(error as Error).message}`)
  if (!(error instanceof TrialFailed)) console.error(error)
  process.exit(FAILED)
}
