// Paying for a subscription from a browser page, in the same way as for storage at the gateway.

import { endpoint } from '../endpoint.ts'
import * as gateway from '../payment.ts'

export const preparePayment = endpoint({
  ...gateway.preparePayment,
  name: 'prepareSubscriptionPayment',
  path: '/v1/service/payment/prepare',
})

export const sendPayment = endpoint({
  ...gateway.sendPayment,
  name: 'sendSubscriptionPayment',
  path: '/v1/service/payment/send',
})

export const paymentOutcome = endpoint({
  ...gateway.paymentOutcome,
  name: 'subscriptionPaymentOutcome',
  path: '/v1/service/payment/outcome',
})

export const findPayment = endpoint({
  ...gateway.findPayment,
  name: 'findSubscriptionPayment',
  path: '/v1/service/payment/find',
})
