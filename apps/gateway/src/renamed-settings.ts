// Settings of 1.1.0 that no longer exist. One of them in the environment stops the start: silently ignoring a limit or
// a key would be worse.

import { RENAMED_SALES_SETTINGS } from '@svc/payments/selling/settings'
import type { Renamed } from '@svc/service/program/config'
import { RENAMED_PROVIDER_SETTINGS } from '@svc/storage/drivers'

const rate = (name: string) => `write it into RATE_LIMITS, as ${name}`
const spend = (name: string, coin: string) =>
  `write it into SPEND_PER_DAY, as ${name}=<amount>${coin} in ${coin} rather than billionths: 500000000 is 0.5${coin}`
const anchor = (option: string) => `write it into ANCHORS, after memo or registry: ANCHORS=registry,${option}`
const oidc = (setting: string, part: string) =>
  `write it into ${setting}: ${setting}=issuer=<issuer>,audience=<audience>,jwks=<URL of its keys>${part}`
const signer = (setting: string) =>
  `write it into ${setting}: ${setting}=<address of the signer>#public=<public key>&token=<token>`
const bucket = 'write it into LOG_STORE: LOG_STORE=s3://<access key>:<secret>@<host>/<bucket>/<prefix>?region=<region>'
const fileLimit = (key: string) => `write it into FILE_LIMITS, as ${key}=<number>`

function ofOidc(name: string): Renamed {
  const services = ',email=<address>,subject=<subject>'
  const words = ['ISSUER', 'AUDIENCE', 'JWKS_URL', 'EMAILS', 'SUBJECTS', 'SERVICES']
  return Object.fromEntries(words.map((word) => [`${name}_${word}`, oidc(name, services)]))
}

export const RENAMED_SETTINGS: Renamed = {
  ...RENAMED_SALES_SETTINGS,
  ...RENAMED_PROVIDER_SETTINGS,
  OPERATOR_ACTORS: 'it is now called ADMINS, with the same value',
  S3_DOOR: 'it is now called S3, with the same value',
  S3_HOST: 'write it into S3: S3=on,host=<host>',
  S3_REGION: 'write it into S3: S3=on,region=<region>',
  STATEMENT_KEY_SIGNER: signer('STATEMENT_KEY'),
  STATEMENT_KEY_PUBLIC: signer('STATEMENT_KEY'),
  STATEMENT_KEY_SIGNER_TOKEN: signer('STATEMENT_KEY'),
  STATEMENT_KEY_NEXT_SIGNER: signer('STATEMENT_KEY_NEXT'),
  STATEMENT_KEY_NEXT_PUBLIC: signer('STATEMENT_KEY_NEXT'),
  STATEMENT_KEY_NEXT_SIGNER_TOKEN: signer('STATEMENT_KEY_NEXT'),
  LOG_DIR: 'it is now called LOG_STORE, with the same value',
  LOG_STORE_ENDPOINT: bucket,
  LOG_STORE_REGION: bucket,
  LOG_STORE_BUCKET: bucket,
  LOG_STORE_PREFIX: bucket,
  LOG_STORE_ACCESS_KEY_ID: bucket,
  LOG_STORE_SECRET_ACCESS_KEY: bucket,
  ...ofOidc('INTERNAL_OIDC'),
  ...ofOidc('SPONSOR_OIDC'),
  ATTEST_JWT_ISSUER: oidc('ATTEST_JWT', ''),
  ATTEST_JWT_AUDIENCE: oidc('ATTEST_JWT', ''),
  ATTEST_JWT_JWKS_URL: oidc('ATTEST_JWT', ''),
  RATE_LIMIT_ADDRESS: rate('address=300/min'),
  RATE_LIMIT_RECEIPT: rate('receipt=120/min'),
  RATE_LIMIT_SIGNER: rate('signer=600/min'),
  STATEMENTS_PER_DAY: rate('statements=500/day'),
  ANCHORS_PER_HOUR: rate('anchors=12/hour'),
  ANCHORS_PER_DAY: rate('anchors=48/day'),
  X402_FAILED_PER_PAYER: rate('failed_payments_payer=10/hour'),
  X402_FAILED_PER_ADDRESS: rate('failed_payments_address=50/hour'),
  PUBLICATION_LAMPORTS_PER_DAY: spend('publication', 'SOL'),
  SAS_RENT_LAMPORTS_PER_DAY: spend('registry_rent', 'SOL'),
  EVM_REGISTRY_GWEI_PER_DAY: spend('evm_registry', 'MON'),
  X402_LOST_LAMPORTS_PER_DAY: spend('x402_primary', 'SOL'),
  X402_LOST_GWEI_PER_DAY: spend('x402_evm', 'MON'),
  X402_LOST_PERCENT: 'write it into SPEND_PER_DAY, as x402_share=10%',
  X402_WAIT_SECONDS: 'write it into CHAIN_WAIT_SECONDS, as x402=20',
  ANCHOR_WAIT_SECONDS: 'write it into CHAIN_WAIT_SECONDS, as anchor=30',
  ANCHOR_KIND: 'it is now called ANCHORS, with the same value',
  ANCHOR_PRIORITY_MICROLAMPORTS: anchor('priority=<number>'),
  SAS_MODE: anchor('registry=per_snapshot'),
  SAS_LIFETIME_SECONDS: anchor('lifetime_seconds=<number>'),
  SAS_CREDENTIAL_NAME: anchor('credential=<name>'),
  MEMO_PROGRAM: anchor('memo_program=<address>'),
  PUBLICATION_LOW_BALANCE_LAMPORTS: anchor('low_balance=<lamports>'),
  ATTEST_PUSH: 'write PUBLISH=statements for true, and PUBLISH=on_request for false',
  PAYMENT_ATTEST_PUSH: 'write PUBLISH=statements,payments for true',
  PAYMENT_WATCH_CALLS_PER_MINUTE: 'write it into PAYMENT_WATCH, as calls_per_minute=300',
  PAYMENT_WATCH_QUOTES: 'write it into PAYMENT_WATCH, as quotes=1000',
  DATABASE_CONNECTIONS: 'write it into DATABASE_LIMITS, as connections=48',
  DATABASE_WAIT_SECONDS: 'write it into DATABASE_LIMITS, as wait_seconds=10',
  DATABASE_STATEMENT_SECONDS: 'write it into DATABASE_LIMITS, as statement_seconds=60',
  SESSION_PART_MAX_BYTES: fileLimit('part_bytes'),
  RECOMPUTE_MAX_BYTES: fileLimit('recompute_bytes'),
  LOGBOOK_DAYS: 'write it into KEEP_DAYS, as logbook=90',
  UNPAID_QUOTE_DAYS: 'write it into KEEP_DAYS, as unpaid_quotes=30',
  FETCH_TIMEOUT_SECONDS: fileLimit('fetch_seconds'),
  FETCH_MAX_BYTES: fileLimit('fetch_bytes'),
  FETCH_MAX_PER_SIGNER: fileLimit('fetch_signer'),
  FETCH_MAX_TOTAL: fileLimit('fetch_process'),
}
