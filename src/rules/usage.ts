// What a model's response says about its use: tokens and cost, in the forms of the providers and SDKs.

import { isObject } from '../core/base/json.js'

export interface Usage {
  readonly tokens: number | undefined
  readonly cost: number | undefined
}

const PLACES = ['usage', 'usage_metadata', 'usageMetadata']
const TOTALS = ['total_tokens', 'totalTokens', 'totalTokenCount']
/** Without a total, the first of each line that is there is added. */
const PARTS = [
  ['input_tokens', 'inputTokens', 'prompt_tokens', 'promptTokens', 'promptTokenCount'],
  ['output_tokens', 'outputTokens', 'completion_tokens', 'completionTokens', 'candidatesTokenCount'],
  ['cache_creation_input_tokens'],
  ['cache_read_input_tokens'],
]
const COSTS = ['cost', 'cost_usd', 'total_cost', 'total_cost_usd']

/** `data` is that of ModelResponse. */
export function usageOf(data: unknown): Usage {
  const places = [data, isObject(data) ? data.response : undefined].filter(isObject)
  const uses = places.flatMap((one) => PLACES.map((key) => one[key])).filter(isObject)
  return {
    tokens: first(uses.map(tokensIn)),
    cost: first([...uses, ...places].map((one) => first(COSTS.map((key) => amount(one[key]))))),
  }
}

function tokensIn(usage: Readonly<Record<string, unknown>>): number | undefined {
  const total = first(TOTALS.map((key) => amount(usage[key])))
  if (total !== undefined) return Math.ceil(total)
  const parts = PARTS.map((keys) => first(keys.map((key) => amount(usage[key]))))
  return parts.every((part) => part === undefined)
    ? undefined
    : Math.ceil(parts.reduce<number>((sum, part) => sum + (part ?? 0), 0))
}

/** Some SDKs tell the parts of a number, and then their `total`. */
function amount(value: unknown): number | undefined {
  if (isObject(value)) return amount(value.total)
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined
}

function first(values: readonly (number | undefined)[]): number | undefined {
  return values.find((value) => value !== undefined)
}
