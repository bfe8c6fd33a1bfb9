// Every setting of the witness. `npm run docs` writes `.env.example` from this table.

import { HTTP_SETTINGS, LOG_SETTINGS, type Settings } from '@svc/service/program/config'

export const SETTINGS: Settings = {
  ...HTTP_SETTINGS,
  BASE_URL: {
    group: 'should look at',
    help: 'Public address of this witness, as logs and verifiers know it; empty for http://localhost and the port',
  },
  PORT: { ...HTTP_SETTINGS.PORT, default: '8404' },
  DATA_DIR: {
    group: 'should look at',
    default: './data/witness',
    help: 'Folder of the database, of the key and of the list of logs. Never restore an older copy of the database: see README.md',
  },
  WITNESS_NAME: {
    group: 'should look at',
    help: 'Name in the key and in every cosignature, never changed; empty for host and path of BASE_URL',
  },
  WITNESS_LOGS_FILE: {
    group: 'should look at',
    help: 'Logs that are witnessed: lines `log <key> [address]` as in a policy, read again when the file changes; empty for logs.txt in DATA_DIR',
  },
  WITNESS_KEY: {
    group: 'should look at',
    isSecret: true,
    help: 'Key that cosigns: 64 hex characters; without it, one is made at the first start and kept in witness.key in DATA_DIR',
  },
  MONITOR_RPC_URL: {
    group: 'should look at',
    help: "Node of the chain that anchors are on; empty to take the gateway's word for them",
  },
  MONITOR_WEBHOOK_URL: {
    group: 'should look at',
    help: 'Address that each alarm is posted to, as JSON; empty for none',
  },
  MONITOR_SECONDS: {
    group: 'tuning',
    default: '60',
    help: 'Seconds between two looks at the logs that have an address; 0 to monitor none',
  },
  MONITOR_TOLERANCE_SECONDS: {
    group: 'tuning',
    default: '600',
    help: 'How many seconds clocks may differ, and a statement may take into the log',
  },
  MONITOR_ANCHOR_SECONDS: {
    group: 'tuning',
    default: '10800',
    help: 'Within how many seconds a statement, or a checkpoint with it, must be published on chain; 0 where it need not be',
  },
  MONITOR_UNREACHABLE_SECONDS: {
    group: 'tuning',
    default: '1800',
    help: 'After how many seconds a log that cannot be read raises an alarm',
  },
  ...LOG_SETTINGS,
}
