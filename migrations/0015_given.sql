-- A business that is given to another user ends the keys and sessions for it alone: they would work again if it came back. This ends those
-- of businesses that were given away before.
UPDATE api_keys
SET revoked_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), ends_at = min(ends_at, strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
WHERE business_id IS NOT NULL AND revoked_at IS NULL
  AND user_id <> (SELECT user_id FROM businesses WHERE businesses.id = api_keys.business_id);
