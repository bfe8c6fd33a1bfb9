// Every setting of the agent service. `npm run docs` generates `.env.example` from this table.

import { RENAMED_SALES_SETTINGS, SALES_SETTINGS } from '@svc/payments/selling/settings'
import { DNS_SETTINGS, HTTP_SETTINGS, LOG_SETTINGS, type Renamed, type Settings } from '@svc/service/program/config'
import { TRACING_SETTINGS } from '@svc/service/tracing/requests'

export const SETTINGS: Settings = {
  BASE_URL: HTTP_SETTINGS.BASE_URL,
  GATEWAY_URL: {
    group: 'must set',
    help: 'Address of the gateway whose lockers the agent serves; in development http://localhost:8402',
  },
  AGENT_KEY: {
    group: 'must set',
    isSecret: true,
    help: "Key that signs receipts and findings: 64 hex characters, or a wallet's keypair",
  },
  DELEGATION_KEY: {
    group: 'must set',
    isSecret: true,
    help: 'Secret from which the keys of all delegations and webhooks are derived; must differ from AGENT_KEY and must never change: see docs/agent.md',
  },
  SVC_MODE: {
    group: 'should look at',
    default: 'production',
    help: 'development (creates its own keys) or production (refuses to start with an incomplete configuration)',
  },
  DATA_DIR: {
    group: 'should look at',
    default: './data/agent',
    help: 'Folder of the embedded database and of development keys',
  },
  DATABASE_URL: {
    group: 'should look at',
    isSecret: true,
    help: "Subscriptions, delegations and findings: sqlite:<file> for one machine, postgres://user:password@host/database for several; not the gateway's; empty for agent.db in DATA_DIR",
  },
  GATEWAY_KEYS: {
    group: 'should look at',
    help: 'Keys that must sign the receipts and statements of the gateway: 64 hex characters each, separated by commas; when empty, the keys that the gateway presents first are pinned',
  },
  SUBSCRIPTION_USD: { group: 'should look at', default: '5', help: 'USD for thirty days' },
  RATE_LIMITS: {
    group: 'should look at',
    default: 'address=60/min,identity=60/min',
    help: 'Limits for unauthenticated requests and invalid signatures per client address, and for signed requests per identity; 0 for no limit',
  },
  MAX_DELEGATIONS: {
    group: 'tuning',
    default: '20',
    help: 'How many lockers one subscriber may delegate',
  },
  WATCH_MAX_BYTES: {
    group: 'tuning',
    default: '1073741824',
    help: 'How many bytes of a locker one watch reads back, starting with those not read for longest; 0 for none',
  },
  CLOCK_TOLERANCE_SECONDS: {
    group: 'tuning',
    default: '30',
    help: 'PostgreSQL only: if the clock of this machine differs from the clock of the database by more than this many seconds, nothing is sold or signed; 0 disables the comparison',
  },
  RUN_JOBS: {
    group: 'tuning',
    default: 'true',
    help: 'false leaves the work on lockers to other processes on the same database, at least one of which must have true',
  },
  HOST: HTTP_SETTINGS.HOST,
  TRUSTED_PROXIES: HTTP_SETTINGS.TRUSTED_PROXIES,
  MAX_REQUESTS_AT_ONCE: HTTP_SETTINGS.MAX_REQUESTS_AT_ONCE,
  PORT: { ...HTTP_SETTINGS.PORT, default: '8403' },
  ...SALES_SETTINGS,
  ...DNS_SETTINGS,
  ...LOG_SETTINGS,
  ...TRACING_SETTINGS,
  OTEL_SERVICE_NAME: { ...TRACING_SETTINGS.OTEL_SERVICE_NAME, default: 'svc-agent' },
}

export const RENAMED_SETTINGS: Renamed = {
  ...RENAMED_SALES_SETTINGS,
  RATE_LIMIT_ADDRESS: 'set it in RATE_LIMITS, as in address=60/min',
  RATE_LIMIT_IDENTITY: 'set it in RATE_LIMITS, as in identity=60/min',
}
