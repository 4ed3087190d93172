// Takes the place of what Drizzle imports and this service never calls (wrangler.toml, `alias`): enums of PostgreSQL, and relational queries.
export const isPgEnum = () => false;

const never = undefined;

export {
  never as createTableRelationsHelpers,
  never as extractTablesRelationalConfig,
  never as getOperators,
  never as getOrderByOperators,
  never as Many,
  never as normalizeRelation,
  never as One,
  never as RelationalQueryBuilder,
};
