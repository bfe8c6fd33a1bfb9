// All endpoints of the agent service.

import { endpointsOf } from '../endpoint.ts'
import * as delegations from './delegations.ts'
import * as info from './info.ts'
import * as payment from './payment.ts'
import * as subscriptions from './subscriptions.ts'

export const agentEndpoints = endpointsOf([info, subscriptions, payment, delegations])
