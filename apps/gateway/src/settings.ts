// Every setting of the gateway, in the order in which an admin meets them. Each module reads its own in its
// `settings.ts`; `npm run docs` writes `.env.example` and the list in docs/gateway.md from this table.

import { isSlow, PROVIDER_FACTS, PROVIDERS } from '@svc/api/providers'
import { SALES_SETTINGS } from '@svc/payments/selling/settings'
import { DEFAULT_SYSTEM_PREFIX } from '@svc/protocol/filename'
import { DEFAULT_DOMAIN_TAG } from '@svc/protocol/names'
import { DNS_SETTINGS, HTTP_SETTINGS, LOG_SETTINGS, type Settings } from '@svc/service/program/config'
import { TRACING_SETTINGS } from '@svc/service/tracing/requests'
import { PROVIDER_SETTINGS } from '@svc/storage/drivers'
import { S3_EXAMPLE } from '@svc/storage/s3-bucket/settings'

const MUST_SET: Settings = {
  BASE_URL: HTTP_SETTINGS.BASE_URL,
  STATEMENT_KEY: {
    group: 'must set',
    isSecret: true,
    help: "Key that signs receipts, attestations and statements: 64 hex characters or a wallet's keypair, or the address of a signer (https://…, unix:/path or ssh-agent:/path) followed by #public=<64 hex>&token=<token that it requires>",
  },
  PUBLICATION_KEY: {
    group: 'must set',
    isSecret: true,
    help: 'Key that signs the transactions that publish statements; different from STATEMENT_KEY',
  },
  SHORT_URL_KEY: {
    group: 'must set',
    isSecret: true,
    help: 'Key that signs short-URL tokens; different from the others',
  },
}

const SHOULD_LOOK_AT: Settings = {
  SVC_MODE: {
    group: 'should look at',
    default: 'production',
    help: 'development (local chains, generated keys) or production (refuses to start with an incomplete configuration); npm start sets development',
  },
  DATA_DIR: {
    group: 'should look at',
    default: './data',
    help: 'Folder of the embedded database, of files stored on this machine, and of development keys',
  },
  DATABASE_URL: {
    group: 'should look at',
    isSecret: true,
    help: 'sqlite:<file> for one machine, postgres://user:password@host/database for several; empty for gateway.db in DATA_DIR',
  },
  LOGBOOK_DIR: {
    group: 'should look at',
    help: 'Folder of the journal: a copy of every receipt, statement and change of access, from which a restored database is completed; put it on another disk than the database; empty for the folder logbook beside the database, off for no journal',
  },
  HOST: HTTP_SETTINGS.HOST,
  PORT: { ...HTTP_SETTINGS.PORT, default: '8402' },
  TRUSTED_PROXIES: HTTP_SETTINGS.TRUSTED_PROXIES,
  LOG_KEY: {
    group: 'should look at',
    isSecret: true,
    help: 'Key that signs the checkpoints of the transparency log; different from the others; when empty, one is generated beside the log at the first start',
  },
  RECOVERY_PUBLIC_KEY: {
    group: 'should look at',
    help: 'Public key that clients trust to revoke a stolen statement key; its private key stays offline (svc-gateway keys new --recovery)',
  },
  INTERNAL_SECRET: {
    group: 'should look at',
    isSecret: true,
    help: 'Shared secret of internal callers, sent as a bearer token; at least 24 characters in production',
  },
  INTERNAL_OIDC: {
    group: 'should look at',
    help: 'Identity provider of internal callers, besides or instead of INTERNAL_SECRET: issuer=<exact value>,audience=…,jwks=<URL of its keys>,email=…,subject=…; repeat email and subject for each service that may call',
  },
  ADMINS: {
    group: 'should look at',
    help: 'Internal callers that may change things, not only read: verified e-mail addresses and subjects of INTERNAL_OIDC tokens, or the word secret for INTERNAL_SECRET; separated by commas; empty for none, in development for all',
  },
  UNIT_PRICES_USD: {
    group: 'should look at',
    default: PROVIDERS.map((provider) => `${provider}=${PROVIDER_FACTS[provider].price}`).join(','),
    help: 'USD for one unit at each provider',
  },
  TERMS: {
    group: 'should look at',
    default: '{}',
    help: `Changes to what one unit holds, as JSON: {"gcs":{"storage_limit_bytes":1,"file_limit":1,"egress_included_bytes":1,"ttl_days":1}}; ${PROVIDERS.filter(isSlow).join(' and ')} also accept settled_limit_bytes, how much may be moved there in total`,
  },
  ENFORCE_TERMS: {
    group: 'should look at',
    default: 'false',
    help: 'true rejects writes beyond the bytes and files that were bought for a locker, and after its end, with 507; reading and deleting stay possible',
  },
  X402_SVM_FEE_PAYER_KEY: {
    group: 'should look at',
    isSecret: true,
    help: "Key that pays the network fee of x402 payments on the primary chain: 64 hex characters, or a wallet's keypair; when empty, the gateway sends none there",
  },
  X402_EVM_FACILITATOR_KEY: {
    group: 'should look at',
    isSecret: true,
    help: 'Key that sends x402 payments on EVM chains and pays their gas: 64 hex characters; when empty, the gateway sends none there',
  },
  SPEND_PER_DAY: {
    group: 'should look at',
    default:
      'publication=0.5SOL,registry_rent=1SOL,evm_registry=50MON,x402_primary=0.1SOL,x402_evm=10MON,x402_share=10%',
    help: 'What each key may spend per day (UTC): on publishing, on new registry accounts, on the EVM registry, on fees of failed x402 payments, and which share of those fees one payer or address may cause; 0 for no limit; an omitted part has its default',
  },
  RATE_LIMITS: {
    group: 'should look at',
    default:
      'address=300/min,receipt=120/min,signer=600/min,statements=500/day,anchors=12/hour,anchors=48/day,failed_payments_payer=10/hour,failed_payments_address=50/hour',
    help: 'Rate limits: unauthenticated requests, by client address and by receipt; requests that create URLs, by signer; statements of a locker, for each of its units; publications of a receipt; x402 payments that failed or are pending, by payer and by address; 0 for no limit; an omitted part has its default',
  },
  S3: {
    group: 'should look at',
    help: 'Whether S3 clients are served: on or off; on,host=s3.example.com,region=us-east-1 also serves clients that put the bucket before the host; empty for on in development and off in production',
  },
  ANCHORS: {
    group: 'should look at',
    default: 'memo',
    help: 'How statements are published on the primary chain: memo, registry (the memo and an account in the attestation registry) or off; followed by commas and registry=latest or per_snapshot (one account for each receipt or each snapshot), lifetime_seconds=0, credential=<name>, priority=<microlamports>, low_balance=<lamports below which health warns>, memo_program=<address>',
  },
  PUBLISH: {
    group: 'should look at',
    default: 'statements',
    help: 'What is published automatically: statements, payments (their codes) or both, separated by commas; on_request publishes a statement only when its owner asks for it',
  },
  AGENT_URL: {
    group: 'should look at',
    help: 'URL of the agent service of the same admin, shown in the index and on the pages; npm start sets it',
  },
}

const STORAGE: Settings = {
  LOCAL_PROVIDERS: {
    group: 'providers',
    help: "Providers that are sold and whose files are stored on this machine's disk, separated by commas; all of them in development",
  },
  ...PROVIDER_SETTINGS,
}

const TUNING: Settings = {
  PROCESSES: {
    group: 'tuning',
    help: 'How many processes share the port: one for each core with PostgreSQL when empty; always 1 with SQLite',
  },
  MAX_REQUESTS_AT_ONCE: HTTP_SETTINGS.MAX_REQUESTS_AT_ONCE,
  RUN_JOBS: {
    group: 'tuning',
    default: 'true',
    help: 'false leaves queued jobs and housekeeping to other processes on the same database; at least one must have true',
  },
  DATABASE_LIMITS: {
    group: 'tuning',
    default: 'connections=48,wait_seconds=10,statement_seconds=60',
    help: 'PostgreSQL: connections for queries of all processes on this machine (each has 4 to 10, and 5 more for jobs), how long a request waits for one before it is answered 503, and how long one statement may take; 0 for no time limit',
  },
  CLOCK_TOLERANCE_SECONDS: {
    group: 'tuning',
    default: '30',
    help: 'PostgreSQL: by how many seconds the clock of this machine may differ from the clock of the database before the gateway stops selling and signing; 0 disables the comparison',
  },
  KEEP_DAYS: {
    group: 'tuning',
    default: 'logbook=90,unpaid_quotes=30',
    help: 'How many days files of the journal are kept (as long as the oldest backup that may be restored), and how many days an unpaid quote is kept after it ends (at least as long as payments may be confirmed late)',
  },
  STATEMENT_KEY_NEXT: {
    group: 'tuning',
    isSecret: true,
    help: 'Key that replaces STATEMENT_KEY at `svc-gateway keys rotate`, in the same formats',
  },
  LOG_STORE: {
    group: 'tuning',
    isSecret: true,
    help: `Folder of the transparency log, or a bucket: ${S3_EXAMPLE}; empty for the folder log beside the database; processes of one gateway share it`,
  },
  LOG_ORIGIN: {
    group: 'tuning',
    help: 'Name of the log, as in gateway.example/log; empty for the name from BASE_URL; the first checkpoint fixes it',
  },
  LOG_CHECKPOINT_SECONDS: { group: 'tuning', default: '2', help: 'Shortest time between two checkpoints of the log' },
  LOG_ANCHOR_SECONDS: {
    group: 'tuning',
    default: '3600',
    help: 'How often the newest checkpoint of the log is published on the primary chain; 0 for never',
  },
  LOG_POLICY_FILE: {
    group: 'tuning',
    help: 'File with the witnesses of the log and their quorum (C2SP tlog-policy); empty for none',
  },
  EVM_REGISTRY_CONTRACT: {
    group: 'tuning',
    help: 'Registry contract on the EVM chain to which statements are also written; svc-gateway deploy-evm-registry deploys one',
  },
  EVM_REGISTRY_KEY: {
    group: 'tuning',
    isSecret: true,
    help: "Key of the contract's owner, who pays the gas: 64 hex characters",
  },
  CHAIN_WAIT_SECONDS: {
    group: 'tuning',
    default: 'anchor=30,x402=20',
    help: 'How long a caller waits for a chain to publish a statement, and to confirm a payment, before the answer reports the outcome as pending',
  },
  PAYMENT_WATCH: {
    group: 'tuning',
    default: 'calls_per_minute=300,quotes=1000',
    help: 'Limits of the search for payments by Solana Pay codes: calls to nodes per minute by all replicas together (0 disables the search), and quotes that are watched at the same time',
  },
  MAX_LOCKERS_PER_OWNER: { group: 'tuning', default: '50', help: 'How many lockers one owner may have' },
  ALLOW_PUBLIC_PROVISION: {
    group: 'tuning',
    default: 'false',
    help: 'true lets every caller who knows a receipt id open its locker without the signature of the payer; for development only',
  },
  SPONSOR_OIDC: {
    group: 'tuning',
    help: 'Identity provider whose tokens may use the sponsored endpoints, in the format of INTERNAL_OIDC',
  },
  ATTEST_JWT: {
    group: 'tuning',
    help: 'Issuer of the tokens that name a receipt to /v1/attest-code/jwt: issuer=<exact value>,audience=…,jwks=<URL of its keys>',
  },
  ORACLE_CALLBACK_SECRET: {
    group: 'tuning',
    isSecret: true,
    help: 'Shared secret of oracles, sent as X-Oracle-Secret; when set, /v1/retrieve computes statements for them only; at least 24 characters in production',
  },
  ENVELOPE_DOMAIN_TAG: {
    group: 'tuning',
    default: DEFAULT_DOMAIN_TAG,
    help: 'The 25 ASCII characters that separate statement signatures from everything else that the key signs',
  },
  ATTEST_CHECK_MODE: {
    group: 'tuning',
    default: 'recorded_hashes',
    help: 'How the files of a statement are checked: recorded_hashes (the bytes exist; hashes as confirmed) or bytes_hashed (all bytes are read and hashed again)',
  },
  AUTO_REATTEST: {
    group: 'tuning',
    default: 'false',
    help: 'true makes a new statement whenever files are confirmed',
  },
  CRON_ATTEST_ENABLED: {
    group: 'tuning',
    default: 'false',
    help: 'true attests lockers again, once a minute, that have changed since their last statement or whose statement is old',
  },
  CRON_ATTEST_PUSH: {
    group: 'tuning',
    default: 'false',
    help: 'true also publishes the statements of CRON_ATTEST_ENABLED on chain',
  },
  CRON_ATTEST_BATCH_SIZE: { group: 'tuning', default: '50', help: 'How many lockers one run attests again at most' },
  CRON_ATTEST_MIN_AGE_HOURS: {
    group: 'tuning',
    default: '24',
    help: 'After how many hours an unchanged locker is attested again',
  },
  CRON_ATTEST_FILTER: {
    group: 'tuning',
    default: 'all',
    help: 'Which lockers CRON_ATTEST_ENABLED attests again: all, unchanged (only if their statement is old), opted_in (with the tag cron_attest) or tier (with a tag tier:<name>)',
  },
  CRON_ATTEST_TIERS: { group: 'tuning', help: 'Tiers for CRON_ATTEST_FILTER=tier, separated by commas' },
  MAX_UPLOAD_BYTES: { group: 'tuning', default: '5368709120', help: 'How large one upload may be' },
  FILE_LIMITS: {
    group: 'tuning',
    default:
      'part_bytes=8388608,recompute_bytes=10737418240,fetch_seconds=120,fetch_bytes=1073741824,fetch_signer=4,fetch_process=256',
    help: 'How large one part of an upload session may be; how much recompute-verify reads for one answer, each file counting as at least 64 KiB; how long fetch-and-store may take, how much it may fetch, and how many fetches one signer or locker and one process may run at the same time',
  },
  ...DNS_SETTINGS,
  STORAGE_DIR: {
    group: 'tuning',
    help: 'Folder of the files of LOCAL_PROVIDERS; empty for files in DATA_DIR',
  },
  STAGING_DIR: {
    group: 'tuning',
    help: 'Folder of files that a slow provider (arweave, filecoin) does not have yet; gateways of one database share it; empty for staging in DATA_DIR',
  },
  PAGES_DIR: {
    group: 'tuning',
    help: 'Folder of the built web pages; empty for apps/web/dist, which npm start and npm run build write',
  },
  SYSTEM_FILENAME_PREFIX: {
    group: 'tuning',
    default: DEFAULT_SYSTEM_PREFIX,
    help: 'The only prefix with a leading dot that filenames may have',
  },
  ...LOG_SETTINGS,
  ...TRACING_SETTINGS,
  OTEL_SERVICE_NAME: { ...TRACING_SETTINGS.OTEL_SERVICE_NAME, default: 'svc-gateway' },
}

export const SETTINGS: Settings = { ...MUST_SET, ...SHOULD_LOOK_AT, ...SALES_SETTINGS, ...STORAGE, ...TUNING }
